import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createInflateRaw } from 'node:zlib';
import type { TarMember, ZipMember } from '../model.ts';
import { AnswerError, type OpenAt } from './expected-file.ts';

/** Where an archive is, and the credentials for its server. */
export type ArchivePlace = { url: string; authorization: string | null; server: string };

/**
 * A function that reads a part of an archive with a range request. Of a server that ignores the range it reads the
 * archive from the start, and skips what is before.
 * @param part  its first byte, and its size
 */
export function openPart(place: ArchivePlace, part: { startByte: number; sizeBytes: number }): OpenAt {
  return async function* read(offset, signal) {
    const [first, end] = [part.startByte + offset, part.startByte + part.sizeBytes];
    const headers: Record<string, string> = { range: `bytes=${first}-${end - 1}`, 'accept-encoding': 'identity' };
    if (place.authorization) headers['authorization'] = place.authorization;
    const answer = await fetch(place.url, { headers, signal });
    const isRange = answer.status === 206 && answer.headers.get('content-range')?.startsWith(`bytes ${first}-`);
    if (!answer.ok || (answer.status === 206 && !isRange)) {
      answer.body?.cancel().catch(() => undefined);
      throw new AnswerError(place.server, answer.status, path.posix.basename(new URL(place.url).pathname));
    }
    yield* between(answer.body!, isRange ? 0 : first, end - (isRange ? first : 0));
  };
}

/** The bytes of a stream from an offset to another one. The stream is left after them, which closes a connection. */
async function* between(stream: AsyncIterable<Uint8Array>, from: number, to: number): AsyncIterable<Uint8Array> {
  for await (const { wanted, isLast } of parts(stream, from, to)) {
    if (wanted.length > 0) yield wanted;
    if (isLast) return;
  }
}

/** The same of a file that is unpacked, which is read to its end: it fails where it is left while it is unpacked. */
async function* within(stream: AsyncIterable<Uint8Array>, from: number, to: number): AsyncIterable<Uint8Array> {
  for await (const { wanted } of parts(stream, from, to)) if (wanted.length > 0) yield wanted;
}

async function* parts(stream: AsyncIterable<Uint8Array>, from: number, to: number) {
  let at = 0;
  for await (const chunk of stream) {
    const wanted = chunk.subarray(Math.max(0, from - at), Math.max(0, to - at));
    at += chunk.length;
    yield { wanted, isLast: at >= to };
  }
}

/** A member of a ZIP archive, which is a file that begins with the part's first byte. */
export type Packed = { archive: string; member: ZipMember };

/** Writes a file of members of ZIP archives, one after the other. @returns  SHA-256 */
export function unzip(parts: readonly Packed[], target: string): Promise<string> {
  const unpacked = async function* () {
    for (const { archive, member } of parts) {
      const end = member.offset + member.packedBytes - 1;
      const stream = createReadStream(archive, { start: member.offset, end }).compose(createInflateRaw());
      yield* stream as AsyncIterable<Uint8Array>;
    }
  };
  return write(unpacked(), target);
}

/** Writes a member of a .tgz archive. @returns  SHA-256 */
export function untar(archive: string, member: TarMember & { sizeBytes: number }, target: string) {
  const unpacked: AsyncIterable<Uint8Array> = createReadStream(archive).compose(createGunzip());
  return write(within(unpacked, member.offset, member.offset + member.sizeBytes), target);
}

async function write(bytes: AsyncIterable<Uint8Array>, target: string): Promise<string> {
  const sha256 = createHash('sha256');
  const digested = async function* (chunks: AsyncIterable<Uint8Array>) {
    for await (const chunk of chunks) {
      sha256.update(chunk);
      yield chunk;
    }
  };
  await pipeline(bytes, digested, createWriteStream(target, { flush: true }));
  return sha256.digest('hex');
}
