import type { StorageRuntime } from '../../audio/storage/storage.ts';
import { ApiError } from '../../http/api-error.ts';
import type { Call } from '../../http/route.ts';
import { readByteRange } from '../../rules/byte-range.ts';
import { attachment } from '../../rules/network/attachment.ts';
import { titleAsFile } from '../documents/file-names.ts';
import type { JobHead } from '../job.ts';
import { keptAudioKey } from './kept-audio.ts';
import type { OpenReads } from './open-reads.ts';

/** Media types and extensions of formats that browsers play. Others are sent as bytes without a meaning. */
const MEDIA: Record<string, { type: string; extension: string }> = {
  wav: { type: 'audio/wav', extension: 'wav' },
  mp3: { type: 'audio/mpeg', extension: 'mp3' },
  flac: { type: 'audio/flac', extension: 'flac' },
  ogg: { type: 'audio/ogg', extension: 'ogg' },
  m4a: { type: 'audio/mp4', extension: 'm4a' },
  aac: { type: 'audio/aac', extension: 'aac' },
  mp4: { type: 'video/mp4', extension: 'mp4' },
  mov: { type: 'video/quicktime', extension: 'mov' },
  webm: { type: 'video/webm', extension: 'webm' },
};
const UNKNOWN = { type: 'application/octet-stream', extension: 'bin' };

/** The media types of the answer. */
export const AUDIO_MEDIA_TYPES = [...Object.values(MEDIA), UNKNOWN].map(({ type }) => type);

/**
 * A job's stored audio, or the part that the Range header asks for. The bytes come from a stranger: the media type is
 * one of a fixed list, and browsers may neither guess another one nor run anything in it.
 * @throws ApiError  404 when the audio is not kept, 416 for a part behind its end, 429
 */
export async function answerAudio(
  { storage, config }: StorageRuntime,
  reads: OpenReads,
  job: JobHead,
  header: Call<0, 0, 0>['header'],
) {
  const { sizeBytes, format } = job;
  const audioKey = keptAudioKey(job, config);
  if (audioKey === null || sizeBytes === null || format === null) throw notKept();
  const etag = `"${job.id}"`;
  const ifRange = header('if-range');
  const range = readByteRange(ifRange === null || ifRange === etag ? header('range') : null, sizeBytes);
  if (range === 'none') throw notSatisfiable(sizeBytes);
  const bytes = range === 'all' ? { first: 0, last: sizeBytes - 1 } : range;
  const stream = await reads.open(job.accountId, () => storage.read(audioKey, bytes));
  if (stream === null) throw notKept();
  const { type, extension } = MEDIA[format] ?? UNKNOWN;
  const headers = {
    'accept-ranges': 'bytes',
    'content-length': String(bytes.last - bytes.first + 1),
    'content-disposition': attachment(`${job.id}.${extension}`, titleAsFile(job, extension) ?? job.filename),
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    etag,
    ...(range !== 'all' && { 'content-range': `bytes ${bytes.first}-${bytes.last}/${sizeBytes}` }),
  };
  return { status: range === 'all' ? 200 : 206, stream, contentType: type, headers } as const;
}

function notKept(): ApiError {
  return new ApiError(
    'not_found',
    'The audio of this job is not stored. It is kept for AUDIO_RETENTION_HOURS after the end of the job.',
  );
}

function notSatisfiable(sizeBytes: number): ApiError {
  return new ApiError('range_not_satisfiable', `The audio has ${sizeBytes} bytes; ask for a part of these.`, {
    param: 'Range',
    headers: { 'content-range': `bytes */${sizeBytes}` },
  });
}
