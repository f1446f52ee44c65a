import fs from 'node:fs/promises';
import path from 'node:path';
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

const MEDIA =
  /\.(wav|mp3|m4a|m4b|aac|ogg|oga|opus|flac|webm|mka|mkv|mp4|m4v|mov|aiff?|caf|amr|ac3|wma|wmv|avi|mpe?g|3gp)$/i;

/**
 * The audio and video files that lack a transcript, but for those with a note that this version has failed. Hidden
 * files and folders, and links, are left out.
 * @param onUnreadable  called with the path of a subfolder that cannot be read
 * @param below  a subfolder, from the watched folder
 * @throws  the error of the file system, if the watched folder itself cannot be read
 */
export async function findUnfinished(
  watched: WatchedFolder,
  onUnreadable: (folder: string, error: Error) => void,
  below = '',
): Promise<UnfinishedFile[]> {
  const entries = await fs.readdir(path.join(watched.folder, below), { withFileTypes: true });
  const visible = entries.filter(({ name }) => !name.startsWith('.'));
  const files = visible.filter((entry) => entry.isFile()).map(({ name }) => name);
  const unfinished = await unfinishedOf(watched, below, files.filter((name) => MEDIA.test(name)).sort());
  if (!watched.isRecursive) return unfinished;
  for (const folder of visible.filter((entry) => entry.isDirectory())) {
    const inner = path.join(below, folder.name);
    const found = await findUnfinished(watched, onUnreadable, inner).catch((error: Error) => {
      onUnreadable(path.join(watched.folder, inner), error);
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

async function unfinishedOf(watched: WatchedFolder, below: string, names: string[]): Promise<UnfinishedFile[]> {
  const { folder, out, formats } = watched;
  const targetFolder = path.join(out ?? folder, below);
  const present = new Set((await fs.readdir(targetFolder).catch(nullIfGone)) ?? []);
  const uses = Map.groupBy(names, (name) => stemOf(name).toLowerCase());
  const unfinished: UnfinishedFile[] = [];
  for (const name of names) {
    // Files that differ in their endings only keep them: call.mp3.srt and call.wav.srt.
    const stem = uses.get(stemOf(name).toLowerCase())!.length > 1 ? name : stemOf(name);
    const missing = formats
      .filter((format) => !present.has(`${stem}.${format}`))
      .map((format) => ({ format, target: path.join(targetFolder, `${stem}.${format}`) }));
    const file = path.join(folder, below, name);
    const version = missing.length > 0 ? await versionOf(file) : null;
    const failureNote = path.join(targetFolder, `${name}.failed.txt`);
    if (version === null || (await isAbout(failureNote, version))) continue;
    unfinished.push({ name: path.join(below, name), path: file, version, missing, failureNote });
  }
  return unfinished;
}

async function isAbout(failureNote: string, version: string): Promise<boolean> {
  const text = await fs.readFile(failureNote, 'utf8').catch(nullIfGone);
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
