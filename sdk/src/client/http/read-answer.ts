import { ConnectionError, UnreadableAnswerError } from './errors.ts';

/** An answer without its body, for errors about it. */
type AnswerHead = Pick<Response, 'status' | 'headers'>;

/** The JSON object in an answer; undefined for a 204. @throws UnreadableAnswerError */
export async function readJson(answer: Response): Promise<unknown> {
  return answer.status === 204 ? undefined : parseAnswer(await answer.text(), answer);
}

/** The text of an answer, in any format but HTML, which the API never sends. @throws UnreadableAnswerError */
export async function readText(answer: Response): Promise<string> {
  return await refusePage(answer).text();
}

/** @throws UnreadableAnswerError  for a web page */
export function refusePage(answer: Response): Response {
  if (isOfType(answer, 'text/html')) throw new UnreadableAnswerError(answer, 'what was asked for');
  return answer;
}

/** The body of a stream of server-sent events. @throws UnreadableAnswerError */
export function readStream(answer: Response): ReadableStream<Uint8Array> {
  if (answer.body && isOfType(answer, 'text/event-stream')) return answer.body;
  throw new UnreadableAnswerError(answer, 'a stream of events');
}

/** The JSON object in the text of an answer. @throws UnreadableAnswerError */
export function parseAnswer(text: string, answer: AnswerHead): object {
  return parseObject(text, (cause) => new UnreadableAnswerError(answer, 'JSON', { cause }));
}

/** The JSON object in a frame of a stream. @throws ConnectionError */
export function parseData(text: string): object {
  return parseObject(text, (cause) => new ConnectionError('A frame of the stream is not JSON.', { cause }));
}

/** Every answer, frame and event is an object. */
function parseObject(text: string, explain: (cause: unknown) => Error): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) throw new TypeError('The JSON is not an object.');
    return value;
  } catch (cause) {
    throw explain(cause);
  }
}

function isOfType({ headers }: AnswerHead, type: string): boolean {
  return headers.get('content-type')?.toLowerCase().startsWith(type) ?? false;
}
