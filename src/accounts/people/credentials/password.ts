import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { type ApiError, unavailable } from '../../../http/api-error.ts';
import { openFairSemaphore } from '../../../platform/fair-semaphore.ts';
import { guesserOf } from '../../../rules/network/client-address.ts';

// The first choice of OWASP's Password Storage Cheat Sheet for argon2id: 19 MiB, two passes, one lane.
const COST = { memory: 19_456, passes: 2, parallelism: 1 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
// Of the four threads of a process, so that the others serve files and names: at most 38 MiB at a time.
const MAX_AT_ONCE = 2;
// Of one client about a second of work, and ten clients' in all: whoever comes later is asked to try again. Clients
// take turns, so that one with many sign-ins delays another's by the hashes under way.
const MAX_WAITING = { ofClient: 40, ofAll: 400 };
const STORED = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([A-Za-z0-9+/]{22,86})\$([A-Za-z0-9+/]{43})$/;

const argon2id = promisify<'argon2id', Argon2Parameters, Buffer>(argon2);
const inTurn = openFairSemaphore({ permits: MAX_AT_ONCE, perOwner: MAX_AT_ONCE });
const waiting = new Map<string, number>();
let waitingInAll = 0;

/** A password that is given, and the address of whoever gives it: clients take turns. */
export type GivenPassword = { password: string; address: string };

/**
 * A password's argon2id hash with its parameters and salt, in the usual form `$argon2id$v=19$m=…,t=…,p=…$salt$hash`.
 * @param like  a stored hash whose parameters and salt it has; null: those of now, and a random salt
 * @throws ApiError  503 while too many passwords of the address wait to be hashed
 */
export async function hashPassword({ password, address }: GivenPassword, like: string | null = null): Promise<string> {
  const { cost, salt } = like === null ? { cost: COST, salt: randomBytes(SALT_BYTES) } : readStored(like);
  const hash = await derive(address, { ...cost, message: normal(password), nonce: salt, tagLength: HASH_BYTES });
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(hash)}`;
}

/**
 * Whether the stored hash is that of the password.
 * @throws ApiError  503 while too many passwords of the address wait to be hashed
 */
export async function isPassword(given: GivenPassword, stored: string): Promise<boolean> {
  return timingSafeEqual(Buffer.from(await hashPassword(given, stored)), Buffer.from(stored));
}

function readStored(stored: string) {
  const [, memory, passes, parallelism, salt] = STORED.exec(stored) ?? [];
  if (salt === undefined) throw new Error('a stored password has an unknown form');
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  return { cost, salt: Buffer.from(salt, 'base64') };
}

/** A password is the same however a keyboard writes its accents. */
function normal(password: string): string {
  return password.normalize('NFKC');
}

/** In a thread of the process, at most `MAX_AT_ONCE` at a time. */
async function derive(address: string, parameters: Argon2Parameters): Promise<Buffer> {
  const client = guesserOf(address);
  const ofClient = waiting.get(client) ?? 0;
  if (ofClient >= MAX_WAITING.ofClient || (ofClient > 0 && waitingInAll >= MAX_WAITING.ofAll)) throw tooManyAtOnce();
  waiting.set(client, ofClient + 1);
  waitingInAll += 1;
  try {
    return await inTurn(client, () => argon2id('argon2id', parameters));
  } finally {
    waitingInAll -= 1;
    const left = waiting.get(client)! - 1;
    if (left > 0) waiting.set(client, left);
    else waiting.delete(client);
  }
}

function tooManyAtOnce(): ApiError {
  return unavailable('Too many sign-ins at a time; try again in a moment.', 1);
}

/** Without the padding. */
function base64(bytes: Buffer): string {
  return bytes.toString('base64').slice(0, Math.ceil((bytes.length * 4) / 3));
}
