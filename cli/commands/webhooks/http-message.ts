import { UsageError } from '../../exit.ts';

/** A request as it was received: its header fields, in lower case, and the bytes of its body. */
export type HttpMessage = { headers: Record<string, string | string[]>; body: Buffer };

const START_LINE = /^(?:[A-Z]+ \S+ HTTP\/[\d.]+|HTTP\/[\d.]+ \d{3}.*)$/;

/**
 * Reads a request in the form of HTTP/1.1: perhaps a request line, the header fields, an empty line, and the body.
 * @throws UsageError
 */
export function readHttpMessage(bytes: Buffer): HttpMessage {
  const { head, body } = splitMessage(bytes);
  const lines = head.split(/\r?\n/);
  if (START_LINE.test(lines[0] ?? '')) lines.shift();
  const headers = new Map<string, string | string[]>();
  for (const line of lines) {
    const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    if (name === undefined) {
      throw new UsageError(
        `This line is no header field: ${line.slice(0, 80)}\nPass the request as it was received: header fields, an empty line, the body.`,
      );
    }
    const key = name.toLowerCase();
    const before = headers.get(key);
    headers.set(key, before === undefined ? value! : [before, value!].flat());
  }
  return { headers: Object.fromEntries(headers), body };
}

/** The first empty line ends the header fields. */
function splitMessage(bytes: Buffer): { head: string; body: Buffer } {
  const ends = ['\r\n\r\n', '\n\n'].map((mark) => ({ mark, at: bytes.indexOf(mark) })).filter(({ at }) => at >= 0);
  const [first] = ends.sort((one, other) => one.at - other.at);
  if (!first) return { head: bytes.toString('latin1').trimEnd(), body: Buffer.alloc(0) };
  return { head: bytes.subarray(0, first.at).toString('latin1'), body: bytes.subarray(first.at + first.mark.length) };
}
