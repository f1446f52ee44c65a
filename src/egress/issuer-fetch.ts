import { Agent, request } from 'undici';

const TIMEOUT_MS = 10_000;
// The largest document is a list of keys.
const MAX_BYTES = 2 ** 20;
const MAX_CONNECTIONS = 4;
const WITHOUT_BODY = [204, 205, 304];

const connections = new Agent({ connections: MAX_CONNECTIONS, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });

type Sent = { method: string; headers: Record<string, string>; body?: unknown; signal?: AbortSignal | undefined };

/**
 * A request to the OpenID provider that the operator named, or to an address that it names. Redirects are not followed:
 * they would carry the client's secret elsewhere.
 * @throws Error  when there is no answer within 10 s, or it is over 1 MiB
 */
export async function fetchOfIssuer(url: string, { method, headers, body, signal }: Sent): Promise<Response> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const answer = await request(url, {
    method: method as 'GET',
    headers,
    ...(body != null && { body: String(body) }),
    signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    dispatcher: connections,
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`${new URL(url).host} answered more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  const headersOf = Object.entries(answer.headers).flatMap(([name, values]) =>
    [values ?? []].flat().map((value): [string, string] => [name, value]),
  );
  const content = WITHOUT_BODY.includes(answer.statusCode) ? null : Buffer.concat(chunks);
  return new Response(content, { status: answer.statusCode, headers: headersOf });
}
