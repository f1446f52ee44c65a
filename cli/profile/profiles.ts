import path from 'node:path';
import { CommandError } from '../exit.ts';
import { typed } from '../typed.ts';
import { configFolder, readPrivateJson, writePrivateJson } from './private-file.ts';

/** Where an account is served, and a key of it. */
export type Profile = { url: string; api_key: string };
type ProfileFile = { current: string; profiles: Record<string, Profile> };

/** The name of the profile where none is given. */
export const DEFAULT_PROFILE = 'default';

/** The file with all profiles of the user. */
function profilesFile(env: NodeJS.ProcessEnv): string {
  return path.join(configFolder(env), 'profiles.json');
}

/**
 * The profiles of the user by name, and the name of the current one.
 * @throws CommandError  if the file can be read by others, or is not what `saveProfile` writes
 */
export function readProfiles(env: NodeJS.ProcessEnv): ProfileFile {
  const file = profilesFile(env);
  const value = readPrivateJson(file, `repair it, or delete it and run "${typed(env, 'init')}".`);
  if (value === null) return { current: DEFAULT_PROFILE, profiles: {} };
  if (!isProfileFile(value)) {
    throw new CommandError(`${file} has no profiles: delete it and run "${typed(env, 'init')}".`);
  }
  return value;
}

/** Adds or replaces a profile and makes it the current one. Returns the file. */
export function saveProfile(env: NodeJS.ProcessEnv, name: string, profile: Profile): string {
  const { profiles } = readProfiles(env);
  const file = profilesFile(env);
  writePrivateJson(file, { current: name, profiles: { ...profiles, [name]: profile } });
  return file;
}

function isProfileFile(value: unknown): value is ProfileFile {
  const { current, profiles } = value as Partial<ProfileFile>;
  if (typeof current !== 'string' || typeof profiles !== 'object' || profiles === null) return false;
  return Object.values(profiles).every(
    (profile) => typeof profile?.url === 'string' && typeof profile.api_key === 'string',
  );
}
