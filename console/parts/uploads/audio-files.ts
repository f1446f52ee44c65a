import { MEDIA_ENDINGS, MEDIA_NAME } from '#sdk/media-names.ts';
import { addUpload, setLength } from './upload-queue.ts';

const VIDEO_NAME = /\.(mp4|mov|mkv|webm)$/i;
/** What the dialog for choosing files shows. Browsers know the types of some endings only. */
export const ACCEPTED = ['audio/*', 'video/*', ...MEDIA_ENDINGS.map((ending) => `.${ending}`)].join();
const MAX_FILES = 2_000;
const LENGTH_WAIT_MS = 15_000;

let reading = Promise.resolve();

/** Adds the audio and video files of a choice or a folder to the queue. Returns how many others were left out. */
export function addFiles(files: readonly File[]): number {
  const media = files.filter(isMedia).slice(0, MAX_FILES);
  for (const file of media) {
    const id = addUpload(file);
    // One after the other: each takes a decoder of the browser.
    reading = reading.then(async () => {
      const seconds = (await readVideo(file)) ?? (await readLength(file));
      if (seconds !== null) setLength(id, seconds);
    });
  }
  return files.length - media.length;
}

/** The files of a drop, those in folders included. */
export async function filesOf(transfer: DataTransfer): Promise<File[]> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const found = await Promise.all(entries.map(filesIn));
  return found.flat();
}

async function filesIn(entry: FileSystemEntry): Promise<File[]> {
  if (entry.isFile) {
    return [await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject))];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const files: File[] = [];
  // A reader returns a part of the folder at each call, and nothing at the end.
  while (files.length < MAX_FILES) {
    const part = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (part.length === 0) break;
    for (const inside of part) files.push(...(await filesIn(inside)));
  }
  return files;
}

function isMedia({ type, name }: File): boolean {
  return /^(audio|video)\//.test(type) || MEDIA_NAME.test(name);
}

/** Seconds of audio in a video; null for other files. */
async function readVideo(file: File): Promise<number | null> {
  if (!file.type.startsWith('video/') && !VIDEO_NAME.test(file.name)) return null;
  const read = import('../../media/audio-of-video.ts').then(({ readAudioSeconds }) => readAudioSeconds(file));
  const late = new Promise<null>((resolve) => setTimeout(resolve, LENGTH_WAIT_MS, null));
  return await Promise.race([read.catch(() => null), late]);
}

/** Seconds of audio, as the browser reads them from the file; null for a format that it does not know. */
function readLength(file: File): Promise<number | null> {
  return new Promise((resolve) => {
    const media = document.createElement('audio');
    const end = (seconds: number | null) => {
      clearTimeout(timer);
      URL.revokeObjectURL(media.src);
      media.removeAttribute('src');
      resolve(seconds !== null && Number.isFinite(seconds) ? seconds : null);
    };
    const timer = setTimeout(() => end(null), LENGTH_WAIT_MS);
    media.preload = 'metadata';
    media.onloadedmetadata = () => end(media.duration);
    media.onerror = () => end(null);
    media.src = URL.createObjectURL(file);
  });
}
