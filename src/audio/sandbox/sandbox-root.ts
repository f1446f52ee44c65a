import fs from 'node:fs';
import path from 'node:path';
import type { ToolPaths } from '../../platform/tools.ts';

/** Where the system keeps its shared libraries; some of these are links to others. */
const LIBRARIES = ['/usr/lib', '/usr/lib64', '/usr/local/lib', '/lib', '/lib64'];
/** By which the dynamic linker finds them: Debian points at some with links in /etc/alternatives. */
const LINKER_FILES = ['/etc/ld.so.cache', '/etc/alternatives'];
/** What unpacked packages are made of: bin/prepare/unpack-tools.js. */
const TOOL_FOLDERS = ['bin', 'lib', 'root', 'usr'];
/** Where a program finds its input: without bubblewrap that is its standard input by name, which can be sought in. */
export const INPUT_PATH = process.platform === 'linux' ? '/proc/self/fd/0' : '/dev/fd/0';
const SCRIPT_START_MAX_BYTES = 256;

/**
 * The options of bubblewrap that make the file system of a sandbox: empty but for shared libraries, these programs and the
 * input, all read-only. There is no /proc, no /dev, no /tmp, no shell.
 * Where /proc is partly hidden (containers, systemd's Protect* options), the kernel would forbid to mount one anyway.
 * @param input  a file of ours; the sandbox knows it by the name INPUT_PATH only
 */
export function rootArguments(tools: ToolPaths, programs: string[], input: string | null): string[] {
  const folders = tools.folder === null ? [] : TOOL_FOLDERS.map((name) => path.join(tools.folder!, name));
  const wanted = [...LIBRARIES, ...LINKER_FILES, ...folders, ...programs, ...programs.flatMap(interpreterOf)];
  const places = [...new Set(wanted)].filter((place) => fs.existsSync(place));
  const inputs = input === null ? [] : [INPUT_PATH];
  const parents = new Set([...places, ...inputs].flatMap(parentsOf));
  return [
    // Made by name, for bubblewrap makes the others so that root alone may enter them.
    ...[...parents].flatMap((folder) => ['--dir', folder]),
    ...places.flatMap((place) => placeArguments(place)),
    ...inputs.flatMap((name) => ['--ro-bind', input!, name]),
    ...['--remount-ro', '/', '--chdir', '/'],
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
