/** The parts of a job that a webhook may leave out of its deliveries. */
export const INCLUDED_PARTS = ['text', 'segments'] as const;

export type IncludedPart = (typeof INCLUDED_PARTS)[number];

/** Where a member of an object is in the JSON text: from its name to the end of its value. */
type Member = { start: number; valueStart: number; end: number };

/**
 * The body of an event as it is signed and sent to a webhook: the stored bytes, in which the job has
 * `"text_omitted":true` or `"segments_omitted":true` in place of a part that the webhook does not include. All other
 * bytes stay as they are, so that each attempt has the same body. A part that is null stays.
 * @param body  JSON, as `eventBody` makes it
 */
export function includedBody(body: Buffer, include: readonly IncludedPart[]): Buffer {
  const omitted = INCLUDED_PARTS.filter((part) => !include.includes(part));
  if (omitted.length === 0) return body;
  // One character for each byte: positions are those in the buffer.
  const json = body.toString('latin1');
  const job = findObject(json, ['data', 'job']);
  if (job === null) return body;
  const pieces: Buffer[] = [];
  let end = 0;
  for (const [name, member] of membersOf(json, job)) {
    const part = omitted.find((each) => each === name);
    if (part === undefined || json.startsWith('null', member.valueStart)) continue;
    pieces.push(body.subarray(end, member.start), Buffer.from(`"${part}_omitted":true`));
    end = member.end;
  }
  return Buffer.concat([...pieces, body.subarray(end)]);
}

/** Where the object under these names begins; null when there is none. */
function findObject(json: string, names: string[]): number | null {
  let at = skipSpaces(json, 0);
  for (const name of names) {
    const member = json[at] === '{' ? membersOf(json, at).find(([each]) => each === name) : undefined;
    if (!member) return null;
    at = member[1].valueStart;
  }
  return json[at] === '{' ? at : null;
}

function membersOf(json: string, objectStart: number): [name: string, member: Member][] {
  const members: [string, Member][] = [];
  let at = skipSpaces(json, objectStart + 1);
  while (json[at] === '"') {
    const nameEnd = endOfString(json, at);
    const valueStart = skipSpaces(json, skipSpaces(json, nameEnd) + 1);
    const end = endOfValue(json, valueStart);
    members.push([json.slice(at + 1, nameEnd - 1), { start: at, valueStart, end }]);
    at = skipSpaces(json, end);
    if (json[at] === ',') at = skipSpaces(json, at + 1);
  }
  return members;
}

function endOfValue(json: string, start: number): number {
  if (json[start] === '"') return endOfString(json, start);
  const isNested = json[start] === '{' || json[start] === '[';
  const next = isNested ? /["{}[\]]/g : /[\s,}\]]|$/g;
  next.lastIndex = start;
  if (!isNested) return next.exec(json)!.index;
  let depth = 0;
  for (let found = next.exec(json); found; found = next.exec(json)) {
    const [sign] = found;
    if (sign === '"') next.lastIndex = endOfString(json, found.index);
    else depth += sign === '{' || sign === '[' ? 1 : -1;
    if (depth === 0) return next.lastIndex;
  }
  return json.length;
}

/** The position after the closing quote. */
function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (end >= 0 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end < 0 ? json.length : end + 1;
}

function isEscaped(json: string, at: number): boolean {
  let backslashes = 0;
  while (json[at - 1 - backslashes] === '\\') backslashes++;
  return backslashes % 2 === 1;
}

function skipSpaces(json: string, start: number): number {
  let at = start;
  while (json[at] === ' ' || json[at] === '\n' || json[at] === '\r' || json[at] === '\t') at++;
  return at;
}
