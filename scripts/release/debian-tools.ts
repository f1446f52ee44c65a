import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { download, STARTER } from '../../bin/prepare/unpack-tools.js';
import { buildFfmpeg } from './build-ffmpeg.ts';

/** A Debian package of which the archive has files. */
export type DebianPackage = { name: string; version: string; architecture: string };

/** The library is ffmpeg's. */
const PACKAGES = ['bubblewrap', 'zlib1g'];
const PROGRAMS = ['ffmpeg', 'ffprobe', 'bwrap'];
/** The system's C library: its loader, which starts each program, works only with parts of the same version. */
const OF_SYSTEM = /^(ld-linux.*|lib(c|m|mvec|dl|pthread|rt|resolv|util|anl))\.so\.\d+$/;

/**
 * Writes a folder for VERBATIM_TOOLS: ffmpeg, built from its Debian source, and its sandbox with all their libraries,
 * as the Debian of this machine has them, for every system with the same or a newer C library. Only files that one of
 * them loads.
 * Resolves to the packages that the files come from; `licences/` has their texts.
 */
export async function writeTools(folder: string): Promise<DebianPackage[]> {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'verbatim-tools-'));
  try {
    await download(PACKAGES, scratch, '/dev/null');
    const unpacked = unpackEach(path.join(scratch, 'cache/archives'), path.join(scratch, 'unpacked'));
    await buildFfmpeg(scratch, unpacked);
    const files = copyFiles(unpacked, { scratch, folder });
    return files
      .map((file) => describe(path.relative(unpacked, file).split(path.sep)[0]!, unpacked, folder))
      .filter(isFirst);
  } finally {
    fs.rmSync(scratch, { recursive: true });
  }
}

/** A folder for each package: the file of a package is named <name>_<version>_<architecture>.deb. */
function unpackEach(archives: string, unpacked: string): string {
  for (const file of fs.readdirSync(archives).filter((name) => name.endsWith('.deb'))) {
    const folder = path.join(unpacked, path.basename(file, '.deb'));
    fs.mkdirSync(folder, { recursive: true });
    execFileSync('dpkg-deb', ['-x', path.join(archives, file), folder]);
  }
  return unpacked;
}

/** Copies the programs, and the libraries that are loaded. Returns the files that were copied. */
function copyFiles(unpacked: string, { scratch, folder }: { scratch: string; folder: string }): string[] {
  const links = linkLibraries(unpacked, path.join(scratch, 'lib'));
  const programs = PROGRAMS.map((name) => fs.globSync(path.join(unpacked, '*/usr/bin', name))[0]!);
  const libraries = programs.flatMap((file) => librariesOf(file, links));
  for (const kind of ['bin', 'lib', 'root/usr/bin']) fs.mkdirSync(path.join(folder, kind), { recursive: true });
  for (const program of programs) {
    const name = path.basename(program);
    fs.writeFileSync(path.join(folder, 'bin', name), STARTER, { mode: 0o755 });
    fs.copyFileSync(program, path.join(folder, 'root/usr/bin', name));
  }
  const names = new Set(libraries);
  for (const name of names) fs.copyFileSync(path.join(links, name), path.join(folder, 'lib', name));
  return [...programs, ...[...names].map((name) => fs.realpathSync(path.join(links, name)))];
}

/** One folder with all libraries. Of two with the same name, the system uses the one with the shorter path. */
function linkLibraries(unpacked: string, folder: string): string {
  fs.mkdirSync(folder);
  const found = fs.globSync(path.join(unpacked, '*/{usr/lib,lib}/**/*.so{,.*}'));
  found.sort((one, other) => one.split('/').length - other.split('/').length || (one < other ? -1 : 1));
  for (const file of found) {
    const link = path.join(folder, path.basename(file));
    if (fs.existsSync(file) && !fs.existsSync(link)) fs.symlinkSync(file, link);
  }
  return folder;
}

/** The names of all libraries that the loader gives a program or a library, but for the system's. */
function librariesOf(file: string, links: string): string[] {
  const env = { PATH: process.env['PATH'], LD_LIBRARY_PATH: links };
  const lines = execFileSync('ldd', [file], { env, encoding: 'utf8' }).split('\n');
  const missing = lines.find((line) => line.includes('not found'));
  if (missing) throw new Error(`${path.basename(file)}: ${missing.trim()}`);
  const names = lines.flatMap((line) => /^\s*(\S+) => /.exec(line)?.[1] ?? []);
  return names.filter((name) => !OF_SYSTEM.test(name));
}

/** The package of an unpacked folder; its licences are copied. */
function describe(unpackedName: string, unpacked: string, folder: string): DebianPackage {
  const [name, version, architecture] = decodeURIComponent(unpackedName).split('_') as [string, string, string];
  const text = path.join(unpacked, unpackedName, 'usr/share/doc', name, 'copyright');
  fs.mkdirSync(path.join(folder, 'licences'), { recursive: true });
  if (fs.existsSync(text)) fs.copyFileSync(text, path.join(folder, 'licences', name));
  return { name, version, architecture };
}

function isFirst({ name }: DebianPackage, index: number, all: DebianPackage[]): boolean {
  return all.findIndex((other) => other.name === name) === index;
}
