import dgram from 'node:dgram';
import { isIPv4, isIPv6 } from 'node:net';

/**
 * What a name leads to at its n-th look-up of one family (from 0): addresses; before them, at most one other name that
 * it is an alias of; null for a name that does not exist; 'silent' for one that is never answered.
 */
export type Zone = (name: string, index: number) => readonly string[] | null | 'silent';

export type NameServer = AsyncDisposable & {
  /** Names as they were asked for, in order. */
  asked: string[];
};

const TYPE_A = 1;
const TYPE_CNAME = 5;
const TYPE_AAAA = 28;
const HEADER_BYTES = 12;
const RECURSION_AVAILABLE = 0x8180;
const NO_SUCH_NAME = 3;

/** A name server (RFC 1035) on port 53 of 127.0.0.1, for one question per datagram; every answer lives for 0 s. */
export async function openNameServer(zone: Zone): Promise<NameServer> {
  const asked: string[] = [];
  const counts = new Map<string, number>();
  const socket = dgram.createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = readQuestion(query);
    asked.push(name);
    const index = counts.get(`${type} ${name}`) ?? 0;
    counts.set(`${type} ${name}`, index + 1);
    const found = zone(name, index);
    if (found !== 'silent') socket.send(answerTo(query.subarray(0, end), type, name, found), port, address);
  });
  await new Promise<void>((resolve, reject) => socket.on('error', reject).bind(53, '127.0.0.1', resolve));
  return {
    asked,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function answerTo(question: Buffer, type: number, name: string, found: readonly string[] | null): Buffer {
  const isOfType = type === TYPE_A ? isIPv4 : type === TYPE_AAAA ? isIPv6 : () => false;
  const alias = (found ?? []).find((entry) => !isIPv4(entry) && !isIPv6(entry));
  const records = (found ?? []).filter(isOfType).map((address) => record(alias ?? name, type, addressBytes(address)));
  if (alias !== undefined) records.unshift(record(name, TYPE_CNAME, encodeName(alias)));
  const header = Buffer.from(question.subarray(0, HEADER_BYTES));
  header.writeUInt16BE(RECURSION_AVAILABLE | (found === null ? NO_SUCH_NAME : 0), 2);
  header.writeUInt16BE(records.length, 6);
  header.writeUInt32BE(0, 8);
  return Buffer.concat([header, question.subarray(HEADER_BYTES), ...records]);
}

function record(owner: string, type: number, content: Buffer): Buffer {
  const fields = Buffer.alloc(10);
  fields.writeUInt16BE(type, 0);
  fields.writeUInt16BE(1, 2);
  fields.writeUInt16BE(content.length, 8);
  return Buffer.concat([encodeName(owner), fields, content]);
}

function encodeName(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)]));
  return Buffer.concat([...labels, Buffer.of(0)]);
}

/** Four bytes of IPv4, sixteen of IPv6; the latter without a dotted part. */
function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address.split('::');
  const groupsOf = (part: string) => part.split(':').filter((group) => group !== '');
  const [front, back] = [groupsOf(head), groupsOf(tail ?? '')];
  const groups = [...front, ...Array<string>(8 - front.length - back.length).fill('0'), ...back];
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
