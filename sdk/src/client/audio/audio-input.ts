import { openFile } from '#open-file';
import { chunksOf } from './multipart.ts';

/**
 * Audio, or video with an audio track. A stream and a Response are sent once; all others again where an attempt fails.
 * A function is called for each attempt.
 */
export type AudioInput =
  | Blob
  | Uint8Array
  | ArrayBuffer
  | Response
  /** A file, in Node, Bun and Deno. */
  | { path: string }
  /** The service fetches it, from a public https address, with these headers. */
  | { url: string; headers?: Record<string, string> }
  | { stream: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>; name: string; sizeBytes?: number }
  | (() => AudioInput | Promise<AudioInput>);

/** Audio that is ready to be sent. */
export type OpenAudio =
  | { kind: 'url'; url: string; headers: Record<string, string> | undefined }
  | { kind: 'blob'; name: string; content: Blob; sizeBytes: number }
  | { kind: 'stream'; name: string; content: AsyncIterable<Uint8Array>; sizeBytes: number | null };

const UNNAMED = 'audio';

/** Opens the audio for one attempt. @throws TypeError  for something else than audio */
export async function openAudio(input: AudioInput): Promise<OpenAudio> {
  if (typeof input === 'function') return await openAudio(await input());
  if (input instanceof Blob) return fromBlob(input, (input as File).name ?? UNNAMED);
  if (input instanceof Uint8Array || input instanceof ArrayBuffer) {
    return fromBlob(new Blob([input as Uint8Array<ArrayBuffer>]), UNNAMED);
  }
  if (input instanceof Response) return fromResponse(input);
  if ('path' in input) return fromBlob(await openFile(input.path), lastPart(input.path));
  if ('url' in input) return { kind: 'url', url: input.url, headers: input.headers };
  if (!('stream' in input))
    throw new TypeError('The audio must be a Blob, bytes, { path }, { url } or { stream, name }.');
  const { stream, name, sizeBytes = null } = input;
  return { kind: 'stream', name, content: 'getReader' in stream ? chunksOf(stream) : stream, sizeBytes };
}

/** Whether the audio can be opened a second time. */
export function isRepeatable(input: AudioInput): boolean {
  return !(input instanceof Response) && !('stream' in input && !(input instanceof Blob));
}

function fromBlob(content: Blob, name: string): OpenAudio {
  return { kind: 'blob', name: name || UNNAMED, content, sizeBytes: content.size };
}

function fromResponse({ ok, status, body, url, headers }: Response): OpenAudio {
  if (!ok || !body) throw new TypeError(`The audio is a Response with status ${status}${body ? '' : ' and no body'}.`);
  const length = headers.get('content-length');
  const name = lastPart(url.replace(/[?#].*$/, '')) || UNNAMED;
  return { kind: 'stream', name, content: chunksOf(body), sizeBytes: length === null ? null : Number(length) };
}

function lastPart(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}
