import type { DeliveryWithExchange } from '#sdk/api.ts';
import { isNewAtEachAttempt } from './headers.ts';

/** One thing that differs between two attempts of an event. */
export type Difference = {
  what: string;
  /** Null: it was not there. */
  before: string | null;
  after: string | null;
};

type Attempt = Pick<
  DeliveryWithExchange,
  'url' | 'status' | 'response_status' | 'error' | 'remote_address' | 'request' | 'response' | 'timings' | 'duration_ms'
>;

// Less is the ordinary variation of a network.
const SLOWER_FACTOR = 2;
const SLOWER_MS = 50;
const SHOWN_BODY_CHARS = 200;

/**
 * What changed from one attempt to another: outcome, URL, address, headers, bodies, and phases that took twice as long
 * or half as long. Signatures, timestamps and ids, which are new at each attempt, are left out.
 */
export function differencesOf(before: Attempt, after: Attempt, headerPrefix: string): Difference[] {
  const isCompared = (name: string) => !isNewAtEachAttempt(name, headerPrefix);
  return [
    ...compare('Outcome', outcomeOf(before), outcomeOf(after)),
    ...compare('URL', before.url, after.url),
    ...compare('Address', before.remote_address, after.remote_address),
    ...(before.request && after.request
      ? [
          ...compareHeaders('Request header', before.request.headers, after.request.headers, isCompared),
          ...compare('Request body', shorten(before.request.body), shorten(after.request.body)),
        ]
      : []),
    ...(before.response && after.response
      ? [
          ...compareHeaders(
            'Answer header',
            before.response.headers,
            after.response.headers,
            (name) => name !== 'date',
          ),
          ...compare('Answer body', shorten(before.response.body), shorten(after.response.body)),
        ]
      : []),
    ...comparePhases(before, after),
  ];
}

function outcomeOf({ status, response_status, error }: Attempt): string {
  return [status, response_status ?? error?.reason].filter(Boolean).join(', ');
}

function compare(what: string, before: string | null, after: string | null): Difference[] {
  return before === after ? [] : [{ what, before, after }];
}

function compareHeaders(
  what: string,
  before: object,
  after: object,
  isCompared: (lowerName: string) => boolean,
): Difference[] {
  const [left, right] = [linesOf(before), linesOf(after)];
  const names = [...new Set([...left.keys(), ...right.keys()])].filter(isCompared).sort();
  return names.flatMap((name) => compare(`${what} ${name}`, left.get(name) ?? null, right.get(name) ?? null));
}

function linesOf(headers: object): Map<string, string> {
  return new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value].flat().join(', ')]));
}

function shorten(text: string | null): string | null {
  return text !== null && text.length > SHOWN_BODY_CHARS ? `${text.slice(0, SHOWN_BODY_CHARS)}…` : text;
}

const PHASES = [
  ['dns_ms', 'Name resolution'],
  ['connect_ms', 'Connection'],
  ['tls_ms', 'TLS'],
  ['first_byte_ms', 'First byte'],
] as const;

function comparePhases(before: Attempt, after: Attempt): Difference[] {
  const times: [string, number | null, number | null][] = [
    ...PHASES.map(([field, what]): [string, number | null, number | null] => [
      ...([what, before.timings[field], after.timings[field]] as const),
    ]),
    ['Whole attempt', before.duration_ms, after.duration_ms],
  ];
  return times.flatMap(([what, earlier, later]) => {
    if (earlier === null || later === null) return [];
    const [short, long] = [Math.min(earlier, later), Math.max(earlier, later)];
    const isNotable = long - short >= SLOWER_MS && long >= SLOWER_FACTOR * short;
    return isNotable ? [{ what, before: `${Math.round(earlier)} ms`, after: `${Math.round(later)} ms` }] : [];
  });
}
