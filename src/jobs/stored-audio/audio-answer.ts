import type { StorageRuntime } from '../../audio/storage/storage.ts';
import { ApiError } from '../../http/api-error.ts';
import type { Call } from '../../http/route.ts';
import { type ByteRange, readByteRange } from '../../rules/byte-range.ts';
import { attachment } from '../../rules/network/attachment.ts';
import { titleAsFile } from '../documents/file-names.ts';
import type { JobHead } from '../job.ts';
import { keptAudioKey } from './kept-audio.ts';
import type { OpenReads } from './open-reads.ts';
import type { OpusCopies } from './opus-copies.ts';

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
const OPUS = { type: 'audio/ogg', extension: 'opus' };
const UNKNOWN = { type: 'application/octet-stream', extension: 'bin' };

/** The media types of the answer. */
export const AUDIO_MEDIA_TYPES = [...Object.values(MEDIA), UNKNOWN].map(({ type }) => type);

/** What the answer is made of. */
export type AudioReads = { reads: OpenReads; copies: OpusCopies };

/** @property asOpus  whether a copy is sent that every browser plays */
type AudioRequest = { asOpus: boolean; header: Call<0, 0, 0>['header']; signal: AbortSignal };

/**
 * A job's stored audio, or the part that the Range header asks for. The bytes come from a stranger: the media type is
 * one of a fixed list, and browsers may neither guess another one nor run anything in it.
 * @throws ApiError  404 when the audio is not kept, 416 for a part behind its end, 422 and 503 of the copy, 429
 */
export async function answerAudio(
  { storage, config }: StorageRuntime,
  { reads, copies }: AudioReads,
  job: JobHead,
  { asOpus, header, signal }: AudioRequest,
) {
  const { sizeBytes, format } = job;
  const audioKey = keptAudioKey(job, config);
  if (audioKey === null || sizeBytes === null || format === null) throw notKept();
  const { type, extension } = asOpus ? OPUS : (MEDIA[format] ?? UNKNOWN);
  let part = null;
  const stream = await reads.open(job.accountId, async () => {
    const copy = asOpus ? await copies.open(job, audioKey, signal) : null;
    part = partOf(copy?.sizeBytes ?? sizeBytes, copy ? `"${job.id}-${copy.digest}"` : `"${job.id}"`, header);
    return copy ? copy.read(part.bytes) : await storage.read(audioKey, part.bytes);
  });
  if (stream === null || part === null) throw notKept();
  const { isAll, headers: ofPart } = part as Part;
  const headers = {
    'accept-ranges': 'bytes',
    'content-disposition': attachment(
      `${job.id}.${extension}`,
      titleAsFile(job, extension) ?? (asOpus ? null : job.filename),
    ),
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    ...ofPart,
  };
  return { status: isAll ? 200 : 206, stream, contentType: type, headers } as const;
}

type Part = { bytes: ByteRange; isAll: boolean; headers: Record<string, string> };

/** The part of this number of bytes that the Range header asks for. @throws ApiError  416 */
function partOf(sizeBytes: number, etag: string, header: AudioRequest['header']): Part {
  const ifRange = header('if-range');
  const range = readByteRange(ifRange === null || ifRange === etag ? header('range') : null, sizeBytes);
  if (range === 'none') throw notSatisfiable(sizeBytes);
  const isAll = range === 'all';
  const bytes = isAll ? { first: 0, last: sizeBytes - 1 } : range;
  const headers = {
    etag,
    'content-length': String(bytes.last - bytes.first + 1),
    ...(!isAll && { 'content-range': `bytes ${bytes.first}-${bytes.last}/${sizeBytes}` }),
  };
  return { bytes, isAll, headers };
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
