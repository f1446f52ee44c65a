import type { Transport } from '../http/transport.ts';
import type { CreatedSession, LiveParams } from './live-messages.ts';
import { type LiveOptions, LiveSession } from './live-session.ts';
import type { SocketClass } from './live-socket.ts';

/** Creates a live session, and connects to it. @throws VerbatimError */
export async function beginLive(http: Transport, params: LiveParams, options: LiveOptions): Promise<LiveSession> {
  const {
    onConnection,
    maxBufferBytes,
    webSocket = globalThis.WebSocket as SocketClass | undefined,
    ...rest
  } = options;
  if (webSocket === undefined) {
    throw new TypeError(
      'There is no WebSocket here: use Node 22 or newer, or give the class of a package as webSocket.',
    );
  }
  const { metadata, metadataText, ...fields } = params;
  const text = metadataText ?? (metadata === undefined ? undefined : JSON.stringify(metadata));
  const body = { ...fields, ...(text !== undefined && { metadata: text }) };
  const created = await http.json<CreatedSession>('POST', '/v1/live', { ...rest, body });
  const bytesPerSecond = (params.sample_rate ?? 16_000) * ((params.encoding ?? 'pcm_s16le') === 'pcm_s16le' ? 2 : 1);
  return new LiveSession(http, created, { ...rest, onConnection, maxBufferBytes, webSocket, bytesPerSecond });
}
