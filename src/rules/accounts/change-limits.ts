/** Changes within 24 hours. An entry of the audit log has about 300 bytes. */
const PER_ACTOR = 2_000;
const OF_ACCOUNT = 5_000;
const OF_KIND = 10_000;

/** What an entry of the audit log counts as. */
export type CountedAs = 'change' | 'owner_change' | 'event';

/** Entries of an account whose number within 24 hours is limited. `keyId`, `address`, `event`: absent: of all. */
export type ChangeLimit = {
  most: number;
  countedAs: readonly CountedAs[];
  keyId?: string;
  address?: string;
  event?: { action: string; targetId: string };
};

/**
 * The limits that a change must be within. Each key and each user has one of its own. A further one holds for all of an
 * account, but not for what takes a right away or makes a secret useless, which a key that makes many changes must not
 * hinder, and not for users who are owners, who have a reserve.
 * @param change.isOwner  by a session of a user who is an owner
 */
export function changeLimits({
  keyId,
  isOwner,
  isDefence,
}: {
  keyId: string;
  isOwner: boolean;
  isDefence: boolean;
}): ChangeLimit[] {
  const own: ChangeLimit = { most: PER_ACTOR, countedAs: ['change', 'owner_change'], keyId };
  if (isOwner) return [own, { most: OF_KIND, countedAs: ['owner_change'] }];
  if (isDefence) return [own, { most: OF_KIND, countedAs: ['change'] }];
  return [own, { most: OF_ACCOUNT, countedAs: ['change', 'owner_change'] }];
}

// Reading causes them: a page with a player asks for a link each time it is opened, a program reads lists all day.
const OF_READING: ReadonlySet<string> = new Set(['audio_link.created', 'list.exported']);

/**
 * Beyond these an event is not stored: of one key or one address, and of the account. What reading causes is stored
 * once for each key or user and target.
 */
export function eventLimits(
  who: { keyId: string } | { address: string },
  event: { action: string; targetId: string },
): ChangeLimit[] {
  const countedAs = ['event'] as const;
  return [
    ...(OF_READING.has(event.action) ? [{ most: 1, countedAs, ...who, event }] : []),
    { most: PER_ACTOR, countedAs, ...who },
    { most: OF_ACCOUNT, countedAs },
  ];
}
