import type { Config, Role } from './settings.ts';

// The roles that store, read and erase audio.
const AUDIO_ROLES: Role[] = ['api', 'transcriber', 'janitor'];

/** Warnings about settings that are valid but probably a mistake, in sentences for the operator. */
export function doubtsAbout({ roles, storageUrl }: Config): string[] {
  const held = AUDIO_ROLES.filter((role) => roles.includes(role));
  if (storageUrl !== null || held.length === 0 || held.length === AUDIO_ROLES.length) return [];
  const missing = AUDIO_ROLES.filter((role) => !roles.includes(role));
  return [
    `ROLES leaves ${missing.join(' and ')} to other nodes, and uploads are files in DATA_DIR: set STORAGE_URL, unless ` +
      'those nodes have the same DATA_DIR.',
  ];
}
