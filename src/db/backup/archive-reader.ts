import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { BackupError, type Header, type Manifest, NAMES, readHeader, readManifest } from './contents.ts';

/** One file of a backup, whose content must be read before the next one. */
export type ArchiveFile = { name: string; bytes: number; content: AsyncIterable<Buffer> };

/** What is done with the files of a backup. */
export type ArchiveVisitor = {
  begin(header: Header): Promise<void>;
  /** Whatever it does not read is read and hashed after it. */
  file(file: ArchiveFile): Promise<void>;
};

// A header or manifest that is larger is none: 256 MiB list three million files.
const MAX_JSON_BYTES = 256 * 1024 * 1024;

/**
 * Reads a backup from its first to its last file, and checks that each has the hash that the manifest names. Whoever
 * has visited the files keeps what they brought only when this resolves.
 * @throws BackupError  if the backup is damaged, incomplete, or of a later format
 */
export async function readArchive(source: Readable, visitor: ArchiveVisitor): Promise<Manifest> {
  const entries = extract();
  const unpacked = pipeline(source, createGunzip(), entries);
  let failure: unknown = null;
  unpacked.catch((error: Error) => {
    failure = error;
    entries.destroy(error);
  });
  try {
    const manifest = await visit(entries, visitor);
    await unpacked;
    return manifest;
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    const isOfSystem = /^E[A-Z]+$/.test(code);
    const isDamaged = code.startsWith('Z_') || /invalid tar|unexpected end of|premature close/i.test(message);
    if (isDamaged || (cause === failure && !isOfSystem && !(cause instanceof BackupError)))
      throw new BackupError(`The backup is damaged or incomplete (${message}).`, { cause });
    throw cause;
  }
}

async function visit(entries: ReturnType<typeof extract>, visitor: ArchiveVisitor): Promise<Manifest> {
  const files: Manifest['files'] = [];
  let manifest: Manifest | null = null;
  for await (const entry of entries) {
    const { name, size = 0, type } = entry.header;
    const bytes = entry as AsyncIterable<Buffer>;
    if (manifest) throw new BackupError('The backup has files after its manifest.');
    if (type !== 'file') throw new BackupError('The backup has an entry that is no file. Take another backup.');
    if (files.length === 0 && name !== NAMES.header) throw new BackupError('The file is no backup of this service.');
    if (name === NAMES.manifest) {
      manifest = readManifest(await readText(bytes, size));
      continue;
    }
    const hash = createHash('sha256');
    const content = hashed(bytes, hash);
    if (name === NAMES.header) await visitor.begin(readHeader(await readText(content, size)));
    else await visitor.file({ name, bytes: size, content });
    for await (const _ of content);
    files.push({ name, bytes: size, sha256: hash.digest('hex') });
  }
  if (!manifest) throw new BackupError('The backup is incomplete: its end is missing.');
  requireSame(manifest.files, files);
  return manifest;
}

async function* hashed(chunks: AsyncIterable<Buffer>, hash: ReturnType<typeof createHash>): AsyncIterable<Buffer> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

async function readText(content: AsyncIterable<Buffer>, bytes: number): Promise<string> {
  if (bytes > MAX_JSON_BYTES) throw new BackupError('The file is no backup of this service.');
  const chunks: Buffer[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function requireSame(wanted: Manifest['files'], found: Manifest['files']): void {
  const isSame = ({ name, sha256 }: Manifest['files'][number], at: number) =>
    name === found[at]?.name && sha256 === found[at].sha256;
  const wrong = wanted.find((file, at) => !isSame(file, at));
  if (!wrong && wanted.length === found.length) return;
  throw new BackupError(`The backup is damaged: ${wrong?.name ?? 'its list of files'} is not as it was written.`);
}
