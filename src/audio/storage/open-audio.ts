import {
  closeSync,
  constants,
  fchmod as fchmodWithCallback,
  fstatSync,
  openSync,
  open as openWithCallback,
  readSync,
  read as readWithCallback,
} from 'node:fs';
import { promisify } from 'node:util';
import { AudioGoneError, StorageAwayError } from './storage.ts';

const open = promisify(openWithCallback);
const read = promisify(readWithCallback);
const chmod = promisify(fchmodWithCallback);

const OTHERS_READ = 0o004;
const PERMISSIONS = 0o7777;

/**
 * @property isInMemory  the operating system has the file in memory: it is opened and read in the event loop, which
 *                       takes 20 µs. To wake a thread of the pool for both takes 0.5 ms.
 */
type Place = { isInMemory?: boolean };

/**
 * A file of the storage that is open, until it is disposed.
 * @property isFile  false for a named pipe, a device or a folder
 */
export type OpenAudio = Disposable & {
  descriptor: number;
  sizeBytes: number;
  isFile: boolean;
  /** `bytes` bytes, in memory that nothing else uses; fewer at the end of the file. */
  read(at: number, bytes: number, from?: Place): Promise<Buffer>;
  /** Lets other users read the file once they have it: they still cannot enter its folder. */
  allowOthers(): Promise<void>;
};

/**
 * Opens a file at the path that the storage gave for stored audio. Everything that reads stored audio opens it here:
 * an error of the file system says nothing about the audio.
 * @throws AudioGoneError  when there is no file: the storage knows whether it is away, or the audio deleted
 * @throws StorageAwayError  when the file cannot be opened; from `read` too
 */
export async function openAudio(path: string, { isInMemory = false }: Place = {}): Promise<OpenAudio> {
  // Without O_NONBLOCK, opening a named pipe would block until a writer opens it.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK;
  // File handles close, and read the size, in a thread of the pool. Neither waits for the disk after the opening.
  const descriptor = await answered(() => (isInMemory ? openSync(path, flags) : open(path, flags)));
  try {
    const stats = await answered(() => fstatSync(descriptor));
    return {
      descriptor,
      sizeBytes: stats.size,
      isFile: stats.isFile(),
      read: (at, bytes, from = {}) => answered(() => readBytes(descriptor, { at, bytes, ...from })),
      allowOthers: async () => {
        const { mode } = stats;
        if ((mode & OTHERS_READ) === 0) await answered(() => chmod(descriptor, (mode & PERMISSIONS) | OTHERS_READ));
      },
      [Symbol.dispose]: () => closeSync(descriptor),
    };
  } catch (cause) {
    closeSync(descriptor);
    throw cause;
  }
}

async function readBytes(
  descriptor: number,
  { at, bytes, isInMemory }: { at: number; bytes: number } & Place,
): Promise<Buffer> {
  const block = Buffer.allocUnsafeSlow(bytes);
  let filled = 0;
  while (filled < bytes) {
    const part = [block, filled, bytes - filled, at + filled] as const;
    const bytesRead = isInMemory ? readSync(descriptor, ...part) : (await read(descriptor, ...part)).bytesRead;
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return block.subarray(0, filled);
}

/** The result of a call of the file system, whose errors become those of the storage. */
async function answered<Result>(call: () => Result | Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (cause) {
    const { code, syscall } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new AudioGoneError({ cause });
    throw syscall === undefined ? cause : new StorageAwayError(cause);
  }
}
