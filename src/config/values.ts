import net from 'node:net';
import path from 'node:path';
import { readConnectionUrl } from '../rules/database/connection-tls.ts';
import type { AllowedTarget } from '../rules/network/address.ts';

export type { AllowedTarget } from '../rules/network/address.ts';

/** The value of a setting's text, or what is wrong with it: a phrase that follows the setting's name. */
export type Read<Value> = { value: Value } | { mistake: string };
export type Reader<Value> = (given: string | null) => Read<Value>;

/** At most `count` requests in any span of `windowMs`; null for no limit. */
export type RateLimit = { count: number; windowMs: number } | null;

export const text: Reader<string> = (given) => (given ? { value: given } : { mistake: 'must not be empty' });

export const file: Reader<string> = (given) =>
  given ? { value: path.resolve(given) } : { mistake: 'must name a file' };

export const folder: Reader<string> = (given) =>
  given ? { value: path.resolve(given) } : { mistake: 'must name a folder' };

export function optional<Value>(reader: Reader<Value>): Reader<Value | null> {
  return (given) => (given === null ? { value: null } : reader(given));
}

export function integer(min: number, max: number): Reader<number> {
  return (given) => {
    const value = Number(given);
    const isGood = /^\d+$/.test(given ?? '') && value >= min && value <= max;
    return isGood ? { value } : { mistake: `must be a whole number from ${min} to ${max}` };
  };
}

/** A number with at most `digits` decimals. */
export function decimal(min: number, max: number, digits: number): Reader<number> {
  return (given) => {
    const value = Number(given);
    const isGood = new RegExp(`^\\d+(\\.\\d{1,${digits}})?$`).test(given ?? '') && value >= min && value <= max;
    return isGood ? { value } : { mistake: `must be a number from ${min} to ${max} with at most ${digits} decimals` };
  };
}

export function secondsAsMs(min: number, max: number): Reader<number> {
  return (given) => {
    const seconds = Number(given);
    const isGood = /^\d+(\.\d+)?$/.test(given ?? '') && seconds >= min && seconds <= max;
    return isGood ? { value: Math.round(seconds * 1000) } : { mistake: `must be seconds from ${min} to ${max}` };
  };
}

export function oneOf<Choice extends string>(choices: readonly Choice[]): Reader<Choice> {
  return (given) => {
    const value = choices.find((choice) => choice === given);
    return value ? { value } : { mistake: `must be one of ${choices.join(', ')}` };
  };
}

export function listOf<Choice extends string>(choices: readonly Choice[]): Reader<Choice[]> {
  return (given) => {
    const names = splitList(given);
    const known = choices.filter((choice) => names.includes(choice));
    const isGood = names.length > 0 && names.every((name) => known.includes(name as Choice));
    return isGood ? { value: known } : { mistake: `must be a list of ${choices.join(', ')}` };
  };
}

/** An IP address or a host name to listen on. */
export const host: Reader<string> = (given) =>
  net.isIP(given ?? '') || /^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/i.test(given ?? '')
    ? { value: given! }
    : { mistake: 'must be an IP address or a host name' };

export const databaseUrl: Reader<string> = (given) => {
  if (!/^postgres(ql)?:\/\//.test(given ?? '') || !URL.canParse(given!))
    return { mistake: 'must be postgres://<user>:<password>@<host>:<port>/<database>' };
  const read = readConnectionUrl(given!);
  return 'mistake' in read ? read : { value: given! };
};

export const storageUrl: Reader<string> = (given) => {
  return /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\x21-\x7e]*)?$/.test(given ?? '')
    ? { value: given! }
    : { mistake: 'must be s3://<bucket>[/<prefix>]' };
};

/** Without the slashes at its end. */
export const httpUrl: Reader<string> = (given) => {
  const isGood = /^https?:\/\//.test(given ?? '') && URL.canParse(given!);
  return isGood ? { value: given!.replace(/\/+$/, '') } : { mistake: 'must begin with https:// or http://' };
};

/** An address of this service. Its pages and answers name paths from the root of a host. */
export const publicUrl: Reader<string> = (given) => {
  const url = /^https?:\/\//.test(given ?? '') && URL.canParse(given!) ? new URL(given!) : null;
  if (url === null) return { mistake: 'must begin with https:// or http://' };
  if (url.pathname.replace(/\/+$/, '') !== '' || url.search !== '' || url.hash !== '')
    return {
      mistake: `must be without a path, such as ${url.origin}: give the service a host name or a port of its own`,
    };
  return url.username === '' ? { value: url.origin } : { mistake: 'must be without a user name and password' };
};

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** An OpenID Connect provider; what it answers decides who signs in. */
export const issuer: Reader<string> = (given) => {
  const url = URL.canParse(given ?? '') ? new URL(given!) : null;
  const isGood = url?.protocol === 'https:' || (url?.protocol === 'http:' && LOOPBACK.test(url.hostname));
  return isGood ? { value: given! } : { mistake: 'must begin with https://; http:// is for this machine only' };
};

const MAX_ORIGINS = 50;

/** Origins as browsers write them, separated by commas. */
export const origins: Reader<string[]> = (given) => {
  const parts = splitList(given);
  // A host may not contain what ends a directive of a Content-Security-Policy.
  const isOrigin = (part: string) =>
    /^https?:\/\/[a-z0-9.-]+(:\d+)?$/.test(part) && URL.canParse(part) && new URL(part).origin === part;
  const wrong = parts.filter((part) => !isOrigin(part));
  if (parts.length > MAX_ORIGINS) return { mistake: `must list at most ${MAX_ORIGINS} origins` };
  return wrong.length === 0
    ? { value: parts }
    : { mistake: `has entries that are no origin such as https://intranet.example.com: ${wrong.join(' ')}` };
};

// A secret without a key id is decrypted by trying every key.
const MAX_SECRETS_KEYS = 8;

/** A proxy: a host with an optional port and optional credentials, without path, query or fragment. */
export const proxyUrl: Reader<string> = (given) => {
  const url = /^https?:\/\//.test(given ?? '') && URL.canParse(given!) ? new URL(given!) : null;
  const isGood = url !== null && url.pathname === '/' && url.search === '' && url.hash === '' && isDecodable(url);
  return isGood ? { value: given! } : { mistake: 'must be http:// or https://[user:password@]host[:port]' };
};

function isDecodable({ username, password }: URL): boolean {
  try {
    // A password without a user name is a mistake.
    return (decodeURIComponent(username) !== '' || password === '') && decodeURIComponent(password) !== null;
  } catch {
    return false;
  }
}

/** A secret that nobody can guess: 32 random digits of hex are 128 bits. */
export const token: Reader<string> = (given) => {
  return /^[\x21-\x7e]{32,256}$/.test(given ?? '')
    ? { value: given! }
    : { mistake: 'must be 32 to 256 random printable characters without spaces (openssl rand -hex 32)' };
};

/** One key or several, separated by commas or lines. */
export const keys32: Reader<Buffer[]> = (given) => {
  const parts = (given ?? '').trim().split(/[\s,]+/);
  const keys = parts.map((part) => Buffer.from(part, 'base64'));
  const isGood = parts.every((part, i) => /^[A-Za-z0-9+/]{43}=$/.test(part) && keys[i]!.length === 32);
  if (!isGood) return { mistake: 'must be 32 bytes in base64 (openssl rand -base64 32), or several, with commas' };
  if (keys.length > MAX_SECRETS_KEYS) return { mistake: `must list at most ${MAX_SECRETS_KEYS} keys` };
  return { value: keys };
};

export const rateLimit: Reader<RateLimit> = (given) => {
  if (given === 'off') return { value: null };
  const match = /^(\d{1,6})\/(\d{1,6})$/.exec(given ?? '');
  const [count, seconds] = [Number(match?.[1]), Number(match?.[2])];
  const isGood = match !== null && count >= 1 && count <= 10_000 && seconds >= 1 && seconds <= 86_400;
  return isGood
    ? { value: { count, windowMs: seconds * 1000 } }
    : { mistake: 'must be <requests>/<seconds> such as 10/60 (at most 10000 requests), or off' };
};

/** Whole numbers for the plans lite and pro, or one for both. */
export function forPlans(min: number, max: number): Reader<{ lite: number; pro: number }> {
  return (given) => {
    const parts = (given ?? '').split(',').map((part) => part.trim());
    const [lite, pro = lite] = parts.map(Number);
    const isGood =
      parts.length <= 2 && parts.every((part) => /^\d+$/.test(part) && Number(part) >= min && Number(part) <= max);
    return isGood
      ? { value: { lite: lite!, pro: pro! } }
      : { mistake: `must be a whole number from ${min} to ${max}, or two: for lite and pro` };
  };
}

export const fourDelaysAsMs: Reader<number[]> = (given) => {
  const parts = (given ?? '').split(',').map((part) => part.trim());
  const isGood = parts.length === 4 && parts.every((part) => /^\d+(\.\d+)?$/.test(part) && Number(part) <= 604_800);
  return isGood
    ? { value: parts.map((part) => Math.round(Number(part) * 1000)) }
    : { mistake: 'must be four numbers of seconds such as 0,30,300,1800' };
};

export const headerPrefix: Reader<string> = (given) => {
  // Every delivery has webhook-signature and webhook-timestamp headers with another meaning.
  return /^(?!webhook-$)[a-z][a-z0-9-]{0,62}-$/i.test(given ?? '')
    ? { value: given! }
    : { mistake: 'must be letters, digits and dashes that end in a dash, such as X-Service-, and not webhook-' };
};

export const allowedTargets: Reader<AllowedTarget[]> = (given) => {
  const parts = splitList(given);
  const targets = parts.map(readAllowedTarget);
  const wrong = parts.filter((_, index) => targets[index] === null);
  return wrong.length === 0
    ? { value: targets.filter((target) => target !== null) }
    : { mistake: `has entries that are not CIDR[:port], such as 10.0.0.0/8 or [fd00::]/8:8443: ${wrong.join(' ')}` };
};

function readAllowedTarget(entry: string): AllowedTarget | null {
  const match = /^(?:\[([0-9a-f:.]*:[0-9a-f:.]*)\]|([0-9a-f:.]+))\/(\d{1,3})(?::(\d{1,5}))?$/i.exec(entry);
  if (!match) return null;
  const address = (match[1] ?? match[2])!;
  const [prefixBits, port] = [Number(match[3]), match[4] ? Number(match[4]) : null];
  const family = net.isIP(address);
  const isGood =
    family !== 0 && prefixBits <= (family === 4 ? 32 : 128) && (port === null || (port >= 1 && port <= 65_535));
  return isGood ? { address, prefixBits, port } : null;
}

/** Addresses, and networks as CIDR. Not all addresses at once. */
export const networks: Reader<string[]> = (given) => {
  const parts = splitList(given);
  const wrong = parts.filter((part) => {
    const [, address, prefixBits] = /^([0-9a-f:.]+)(?:\/(\d{1,3}))?$/i.exec(part) ?? [];
    const family = net.isIP(address ?? '');
    const bits = prefixBits === undefined ? 32 : Number(prefixBits);
    return family === 0 || bits < 1 || bits > (family === 4 ? 32 : 128);
  });
  return wrong.length === 0
    ? { value: parts }
    : { mistake: `has entries that are no address or network, such as 10.0.0.5 or fd00::/8: ${wrong.join(' ')}` };
};

function splitList(given: string | null): string[] {
  return (given ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
