import fs from 'node:fs/promises';
import path from 'node:path';
import { MEDIA_NAME } from '#sdk/media-names.ts';
import type { Format } from '../commands/transcription/captions.ts';

/** A file of the watched folder that lacks at least one of its transcripts, and has not failed. */
export type UnfinishedFile = {
  /** The path from the watched folder. */
  name: string;
  path: string;
  /** Size and time of the last change: another one means that the file has changed. */
  version: string;
  missing: { format: Format; target: string }[];
  /** Where it is written why the file has failed. */
  failureNote: string;
};

export type WatchedFolder = {
  folder: string;
  /** Where transcripts are written; null: beside the audio. */
  out: string | null;
  formats: readonly Format[];
  isRecursive: boolean;
};

/** Called with the path of a file or subfolder that is left out, and the reason. */
type OnLeftOut = (path: string, reason: string) => void;

// What Node gives for the bytes of a name that are not UTF-8.
const REPLACEMENT = '\uFFFD';
const NOT_UTF8 = 'its name is not UTF-8: rename it.';

/**
 * The audio and video files that lack a transcript, but for those with a note that this version has failed. Hidden
 * files and folders, and links, are left out.
 * @param below  a subfolder, from the watched folder
 * @throws  the error of the file system, if the watched folder itself cannot be read
 */
export async function findUnfinished(
  watched: WatchedFolder,
  onLeftOut: OnLeftOut,
  below = '',
): Promise<UnfinishedFile[]> {
  const entries = await fs.readdir(path.join(watched.folder, below), { withFileTypes: true });
  const visible = entries.filter(({ name }) => !name.startsWith('.'));
  const files = visible.filter((entry) => entry.isFile()).map(({ name }) => name);
  const media = files.filter((name) => MEDIA_NAME.test(name)).sort();
  const unfinished = await unfinishedOf({ ...watched, onLeftOut }, below, media);
  if (!watched.isRecursive) return unfinished;
  for (const folder of visible.filter((entry) => entry.isDirectory())) {
    const inner = path.join(below, folder.name);
    const found = await findUnfinished(watched, onLeftOut, inner).catch((error: Error) => {
      onLeftOut(path.join(watched.folder, inner), whyLeftOut(folder.name, error));
      return [];
    });
    unfinished.push(...found);
  }
  return unfinished;
}

/** Size and time of the last change of a file; null when it is gone. */
export async function versionOf(file: string): Promise<string | null> {
  const found = await fs.stat(file).catch(nullIfGone);
  return found && `${found.size} bytes, changed ${found.mtime.toISOString()}`;
}

/** The text that `failureNote` holds. */
export function failureText({ name, version }: UnfinishedFile, message: string): string {
  return [
    `${path.basename(name)} was not transcribed: ${message}`,
    'It is tried again when it changes, or when this file is removed.',
    lastLine(version),
  ].join('\n');
}

type Search = WatchedFolder & { onLeftOut: OnLeftOut };

async function unfinishedOf(search: Search, below: string, names: string[]): Promise<UnfinishedFile[]> {
  const { folder, out, onLeftOut } = search;
  const targetFolder = path.join(out ?? folder, below);
  const present = new Set((await fs.readdir(targetFolder).catch(nullIfGone)) ?? []);
  const uses = Map.groupBy(names, (name) => stemOf(name).toLowerCase());
  const unfinished: UnfinishedFile[] = [];
  for (const name of names) {
    // Files that differ in their endings only keep them: call.mp3.srt and call.wav.srt.
    const stem = uses.get(stemOf(name).toLowerCase())!.length > 1 ? name : stemOf(name);
    try {
      const found = await lookAt(path.join(below, name), stem, { ...search, targetFolder, present });
      if (found !== null) unfinished.push(found);
    } catch (error) {
      onLeftOut(path.join(folder, below, name), whyLeftOut(name, error as Error));
    }
  }
  return unfinished;
}

/** Null for a file that is done, has failed, or is gone. */
async function lookAt(
  name: string,
  stem: string,
  { folder, formats, targetFolder, present }: Search & { targetFolder: string; present: Set<string> },
): Promise<UnfinishedFile | null> {
  const missing = formats
    .filter((format) => !present.has(`${stem}.${format}`))
    .map((format) => ({ format, target: path.join(targetFolder, `${stem}.${format}`) }));
  if (missing.length === 0) return null;
  const file = path.join(folder, name);
  const version = await versionOf(file);
  if (version === null && name.includes(REPLACEMENT)) throw new Error(NOT_UTF8);
  const failureNote = path.join(targetFolder, `${path.basename(name)}.failed.txt`);
  if (version === null || (await isAbout(failureNote, version))) return null;
  return { name, path: file, version, missing, failureNote };
}

function whyLeftOut(name: string, error: Error): string {
  return name.includes(REPLACEMENT) ? NOT_UTF8 : error.message;
}

/** A name that is too long for a note has none. */
async function isAbout(failureNote: string, version: string): Promise<boolean> {
  const text = await fs.readFile(failureNote, 'utf8').catch((error: NodeJS.ErrnoException) => {
    return error.code === 'ENAMETOOLONG' ? null : nullIfGone(error);
  });
  return text?.endsWith(lastLine(version)) ?? false;
}

function lastLine(version: string): string {
  return `The file: ${version}\n`;
}

function stemOf(name: string): string {
  return path.basename(name, path.extname(name));
}

function nullIfGone(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
