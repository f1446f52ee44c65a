import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { sourceSeconds } from './source.ts';

/** GNU tar, which is `gtar` on macOS. */
const TAR = process.platform === 'darwin' ? 'gtar' : 'tar';

/** The number of threads is fixed, because the bytes that xz writes depend on it. */
const COMPRESSORS: Record<string, string> = { '.gz': 'gzip -9n', '.xz': 'xz -9 --threads=2' };

/**
 * Writes a compressed archive in which nothing tells when, where or by whom it was made.
 * @param file  its ending chooses the compression
 * @param names  files or folders in `folder`
 */
export function writeTarball(file: string, folder: string, names: string[]): void {
  const options = ['--sort=name', '--format=gnu', `--mtime=@${sourceSeconds()}`, '--mode=u=rwX,go=rX'];
  const owner = ['--owner=0', '--group=0', '--numeric-owner'];
  const input = names.join('\0');
  const args = [
    ...options,
    ...owner,
    `--use-compress-program=${COMPRESSORS[path.extname(file)]}`,
    '--directory',
    folder,
  ];
  execFileSync(TAR, [...args, '--create', '--file', file, '--null', '--files-from=-'], { input });
}
