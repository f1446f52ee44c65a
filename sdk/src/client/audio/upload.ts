import type { Payload } from '../http/transport.ts';
import { type AudioInput, openAudio } from './audio-input.ts';
import { chunksOf, streamOf, writeMultipart } from './multipart.ts';

/** The fields of a job beside its audio, as in a JSON body. */
export type JobFields = Readonly<Record<string, unknown>>;

/** @param part  of the bytes of the audio, 0 to 1 */
export type OnUpload = (part: number) => void;

/**
 * The body of a request that creates a job: a form, or JSON where the service is to fetch the audio.
 * @param onUpload  where it is absent, the whole body is handed over, which is the fastest
 */
export async function makeUpload(input: AudioInput, fields: JobFields, onUpload?: OnUpload): Promise<Payload> {
  const audio = await openAudio(input);
  if (audio.kind === 'url') {
    const { url, headers } = audio;
    const body = { ...fields, audio_url: url, ...(headers && { audio_url_headers: headers }) };
    return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
  }
  const form = writeMultipart(formFields(fields), audio);
  if (!onUpload) return form;
  if (form.body instanceof Blob && XMLHttpRequest) return { ...form, fetch: fetchByXhr(XMLHttpRequest, onUpload) };
  const { body, headers } = form;
  const counted = countBytes(body instanceof Blob ? body.stream() : body, audio.sizeBytes, onUpload);
  return { body: counted, headers };
}

/** Lists are repeated fields, and their objects JSON. */
function formFields(fields: JobFields): [string, string][] {
  return Object.entries(fields).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return [];
    if (Array.isArray(value) && value.every((each) => typeof each === 'string'))
      return value.map((each) => [name, each]);
    return [[name, typeof value === 'object' ? JSON.stringify(value) : String(value)]];
  });
}

function countBytes(
  body: ReadableStream<Uint8Array>,
  sizeBytes: number | null,
  onUpload: OnUpload,
): ReadableStream<Uint8Array> {
  async function* counted() {
    let [sentBytes, part] = [0, 0];
    const report = (next: number) => {
      if (next > part) onUpload(next);
      part = next;
    };
    for await (const chunk of chunksOf(body)) {
      yield chunk;
      sentBytes += chunk.length;
      // The form is larger than its file.
      if (sizeBytes) report(Math.min(1, sentBytes / sizeBytes));
    }
    report(1);
  }
  return streamOf(counted());
}

/** The used part of XMLHttpRequest, which only browsers have. */
type Xhr = {
  upload: { onprogress: (progress: { loaded: number; total: number }) => void };
  onload: () => void;
  onerror: () => void;
  onabort: () => void;
  status: number;
  responseText: string;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getAllResponseHeaders(): string;
  send(body: Blob): void;
  abort(): void;
};
const { XMLHttpRequest } = globalThis as unknown as { XMLHttpRequest?: new () => Xhr };

/** A fetch that reports how much was sent, which fetch does not do in browsers. */
function fetchByXhr(Request: new () => Xhr, onUpload: OnUpload): typeof fetch {
  return (url, init) =>
    new Promise((resolve, reject) => {
      const { method = 'GET', headers, body, signal } = init ?? {};
      const request = new Request();
      request.open(method, String(url));
      for (const [name, value] of new Headers(headers)) request.setRequestHeader(name, value);
      request.upload.onprogress = ({ loaded, total }) => onUpload(total > 0 ? loaded / total : 0);
      request.onload = () => {
        const lines = request.getAllResponseHeaders().trim().split('\r\n');
        const answered = lines.map((line) => line.split(/: (.*)/).slice(0, 2) as [string, string]);
        resolve(new Response(request.responseText, { status: request.status, headers: answered }));
      };
      request.onerror = () => reject(new TypeError('The upload failed.'));
      request.onabort = () => reject(signal?.reason);
      signal?.addEventListener('abort', () => request.abort());
      request.send(body as Blob);
    });
}
