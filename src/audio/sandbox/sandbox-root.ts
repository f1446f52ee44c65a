import fs from 'node:fs';
import path from 'node:path';
import type { ToolPaths } from '../../platform/tools.ts';

/** Folders of the system's shared libraries; some are links to others. */
const LIBRARIES = ['/usr/lib', '/usr/lib64', '/usr/local/lib', '/lib', '/lib64'];
/** Files that the dynamic linker reads: Debian links some libraries through /etc/alternatives. */
const LINKER_FILES = ['/etc/ld.so.cache', '/etc/alternatives'];
/** Folders of unpacked packages (bin/prepare/unpack-tools.js). */
const TOOL_FOLDERS = ['bin', 'lib', 'root', 'usr'];
/** The path of the program's input. Without bubblewrap it is the name of standard input, which allows seeking. */
export const INPUT_PATH = process.platform === 'linux' ? '/proc/self/fd/0' : '/dev/fd/0';
const SCRIPT_START_MAX_BYTES = 256;

/**
 * The bubblewrap options for the file system of a sandbox: only shared libraries, the given programs and the input, all
 * read-only. There is no /proc, /dev, /tmp or shell. (Where /proc is partly hidden, as in containers and under
 * systemd's Protect* options, the kernel would not allow mounting it.)
 * @param input  the path outside the sandbox; inside it is INPUT_PATH
 */
export function rootArguments(tools: ToolPaths, programs: string[], input: string | null): string[] {
  const folders = tools.folder === null ? [] : TOOL_FOLDERS.map((name) => path.join(tools.folder!, name));
  const wanted = [...LIBRARIES, ...LINKER_FILES, ...folders, ...programs, ...programs.flatMap(interpreterOf)];
  const places = [...new Set(wanted)].filter((place) => fs.existsSync(place));
  const inputs = input === null ? [] : [INPUT_PATH];
  const parents = new Set([...places, ...inputs].flatMap(parentsOf));
  return [
    // Explicitly, because bubblewrap makes implied parent folders accessible to root only.
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

/** The parent folders from the top down, without the root. */
function parentsOf(place: string): string[] {
  const parent = path.dirname(place);
  return parent === '/' ? [] : [...parentsOf(parent), parent];
}

/** The interpreter in a script's first line: wrapper scripts start the programs of unpacked packages. */
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
