import fs from 'node:fs';
import path from 'node:path';
import type { ToolPaths } from '../runtime/tools.ts';

/** Where the system keeps its shared libraries; some of these are links to others. */
const LIBRARIES = ['/usr/lib', '/usr/lib64', '/usr/local/lib', '/lib', '/lib64'];
/** By which the dynamic linker finds them: Debian points at some with links in /etc/alternatives. */
const LINKER_FILES = ['/etc/ld.so.cache', '/etc/alternatives'];
/** What unpacked packages are made of: bin/prepare/unpack-tools.js. */
const TOOL_FOLDERS = ['bin', 'lib', 'root', 'usr'];
const SCRIPT_START_MAX_BYTES = 256;

/**
 * The options of bubblewrap that make the file system of a sandbox: empty but for shared libraries, these programs and
 * /proc, all read-only. There is no /dev, no /tmp, no shell.
 */
export function rootArguments(tools: ToolPaths, programs: string[]): string[] {
  const folders = tools.folder === null ? [] : TOOL_FOLDERS.map((name) => path.join(tools.folder!, name));
  const wanted = [...LIBRARIES, ...LINKER_FILES, ...folders, ...programs, ...programs.flatMap(interpreterOf)];
  const places = [...new Set(wanted)].filter((place) => fs.existsSync(place));
  const parents = new Set(places.flatMap(parentsOf));
  return [
    // Made by name, for bubblewrap makes the others so that root alone may enter them.
    ...[...parents].flatMap((folder) => ['--dir', folder]),
    ...places.flatMap((place) => placeArguments(place)),
    ...['--proc', '/proc', '--remount-ro', '/', '--chdir', '/'],
  ];
}

function placeArguments(place: string): string[] {
  const isLinkedFolder = LIBRARIES.includes(place) && fs.lstatSync(place).isSymbolicLink();
  return isLinkedFolder ? ['--symlink', fs.readlinkSync(place), place] : ['--ro-bind', place, place];
}

/** From the top down, without the root itself. */
function parentsOf(place: string): string[] {
  const parent = path.dirname(place);
  return parent === '/' ? [] : [...parentsOf(parent), parent];
}

/** What a script names in its first line; the programs of unpacked packages are started by one. */
function interpreterOf(program: string): string[] {
  const descriptor = fs.openSync(program, 'r');
  try {
    const start = Buffer.alloc(SCRIPT_START_MAX_BYTES);
    fs.readSync(descriptor, start, 0, start.length, 0);
    const [, interpreter] = /^#!\s*(\/[^\s\0]+)/.exec(start.toString('latin1')) ?? [];
    return interpreter === undefined ? [] : [interpreter];
  } finally {
    fs.closeSync(descriptor);
  }
}
