import path from 'node:path';
import type { Clock } from '#sdk/client/index.ts';
import { CommandError } from '../exit.ts';
import { configFolder, readPrivateJson, writePrivateJson } from '../profile/private-file.ts';

/** What `verbatim listen` keeps for a profile. */
export type ListenState = {
  secret: string | null;
  /** Where --resume goes on, and of which service. */
  position: { url: string; resumeId: string } | null;
};

/** The file of a profile. */
export function stateFile(env: NodeJS.ProcessEnv, profile: string): string {
  return path.join(configFolder(env), 'listen', `${encodeURIComponent(profile)}.json`);
}

/** @throws CommandError  if others may read the file, or it is none of this program */
export function readState(file: string): ListenState {
  const value = readPrivateJson(file, 'delete it.') as Partial<ListenState> | null;
  if (value === null) return { secret: null, position: null };
  const { secret = null, position = null } = value;
  const isPosition = position === null || (typeof position.url === 'string' && typeof position.resumeId === 'string');
  if ((secret !== null && typeof secret !== 'string') || !isPosition) {
    throw new CommandError(`${file} is not a file of this program: delete it.`);
  }
  return { secret, position };
}

/** Replaces the file in one step; only its owner may read it. */
export function writeState(file: string, state: ListenState): void {
  writePrivateJson(file, state);
}

/** Keeps where to go on: written at most twice a second, and at the end. */
export type PositionFile = Disposable & { save(resumeId: string): void };

const WRITE_EVERY_MS = 500;

/** @param state  what else the file has */
export function openPositionFile(file: string, state: ListenState, url: string, clock: Clock): PositionFile {
  let latest: string | null = null;
  let isWaiting = false;
  const write = () => {
    isWaiting = false;
    if (latest !== null) writeState(file, { ...state, position: { url, resumeId: latest } });
    latest = null;
  };
  return {
    save(resumeId) {
      latest = resumeId;
      if (isWaiting) return;
      isWaiting = true;
      void clock.sleep(WRITE_EVERY_MS).then(write);
    },
    [Symbol.dispose]: write,
  };
}
