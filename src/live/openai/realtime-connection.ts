import { randomUUID } from 'node:crypto';
import type { Account, PermittedAccount } from '../../accounts/account.ts';
import { requireCurrentCaller } from '../../accounts/keys/current-caller.ts';
import { ApiError } from '../../http/api-error.ts';
import type { Limits } from '../../http/authentication.ts';
import { CLOSE, type OpenSocket, type SocketUser } from '../../http/websocket/open-socket.ts';
import { type JobRequest, permitPlan } from '../../jobs/api/request.ts';
import { permitByEngine } from '../../jobs/api/transcribe.ts';
import type { LiveSegment } from '../../jobs/live/live-segment.ts';
import { makeId } from '../../platform/clock.ts';
import { traceField } from '../../rules/network/traceparent.ts';
import type { HostedUser, LiveApi } from '../live-host.ts';
import type { Loss } from '../session/held-session.ts';
import type { RunningSession } from '../session/running-session.ts';
import { readRealtimeEvent } from './realtime-event.ts';
import { RealtimeItems } from './realtime-items.ts';
import {
  liveOptionsOf,
  planOf,
  type RealtimeSettings,
  requestOf,
  SettingsError,
  showSettings,
  updateSettings,
} from './session-settings.ts';
import { MAX_WAIT_MS } from './waiting-sockets.ts';

export type RealtimeApi = LiveApi & { limits: Limits };

export type RealtimeCaller = {
  account: PermittedAccount;
  keyId: string | null;
  settings: RealtimeSettings;
  /** Of the handshake. */
  requestId: string;
  traceparent: string | null;
  /** Gives up the place of a socket that has not begun a session. */
  leave(): void;
};

/** Bytes of one message: 4 MiB of base64 and its frame. */
export const MESSAGE_MAX_BYTES = 4 * 2 ** 20 + 65_536;
// An error costs so much as reading this number of messages.
const ERROR_MESSAGES = 10;
// A client that makes more of them is not one that transcribes.
const MAX_ERRORS_PER_MINUTE = 100;

type Given = Record<string, unknown>;
type RealtimeError = { eventId?: string | null; code?: string | null; param?: string | null; message: string };

/**
 * A client of OpenAI's Realtime API that transcribes.
 * Its job begins with the first audio, and ends with the connection.
 */
export class RealtimeConnection implements SocketUser {
  readonly #api: RealtimeApi;
  readonly #socket: OpenSocket;
  readonly #caller: RealtimeCaller;
  readonly #items: RealtimeItems;
  readonly #head: { id: string; expiresAt: number };
  /** Aborted when the session begins, or the connection ends. */
  readonly #waiting = new AbortController();
  #settings: RealtimeSettings;
  #session: RunningSession | null = null;
  /** What came while the job was made; null before the first audio, and once the session runs. */
  #queued: (() => void)[] | null = null;
  #errors = { sinceMs: 0, count: 0 };

  constructor(api: RealtimeApi, socket: OpenSocket, caller: RealtimeCaller) {
    this.#api = api;
    this.#socket = socket;
    this.#caller = caller;
    this.#settings = caller.settings;
    this.#items = new RealtimeItems((event) => this.#send(event));
    const expiresAt = Math.floor(api.clock.now() / 1000) + api.config.maxAudioSeconds;
    this.#head = { id: `sess_${randomUUID().replaceAll('-', '')}`, expiresAt };
    this.#send({ type: 'session.created', session: showSettings(this.#settings, this.#head) });
    void this.#closeWithoutAudio();
  }

  binary(): void {
    this.#error({ message: 'Send audio as input_audio_buffer.append, in base64.' });
  }

  text(text: string): void {
    const read = readRealtimeEvent(text);
    if ('bad' in read) return void this.#error({ param: read.param, message: read.bad });
    const { fields: event, audio } = read;
    const eventId = typeof event['event_id'] === 'string' ? event['event_id'].slice(0, 200) : null;
    switch (event['type']) {
      case 'session.update':
      case 'transcription_session.update':
        this.#update(event, eventId);
        break;
      case 'input_audio_buffer.append':
        this.#append(audio, eventId);
        break;
      case 'input_audio_buffer.commit':
        this.#withSession(() => this.#commit());
        break;
      case 'input_audio_buffer.clear':
        this.#withSession(() => this.#clear());
        break;
      default: {
        const { type } = event;
        const name = typeof type === 'string' ? `The event ${type.slice(0, 100)}` : 'An event without a type';
        this.#error({ eventId, code: 'unknown_event', message: `${name} is not offered for transcription.` });
      }
    }
  }

  closed(): void {
    this.#stopWaiting();
    this.#withSession(() => void this.#session?.finish());
  }

  #update(event: Given, eventId: string | null): void {
    const answer = event['type'] === 'session.update' ? 'session.updated' : 'transcription_session.updated';
    try {
      const updated = updateSettings(this.#settings, event['session']);
      // The audio that has come is of the format, and cut by the rule, that it began with.
      const isBegun = this.#session !== null || this.#queued !== null;
      const { format, silenceMs, turnDetection } = this.#settings;
      this.#settings = isBegun ? { ...updated, format, silenceMs, turnDetection } : updated;
      this.#send({ type: answer, session: showSettings(this.#settings, this.#head) });
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      this.#error({ eventId, param: error.param, code: 'invalid_value', message: error.message });
    }
  }

  #append(audio: string | null, eventId: string | null): void {
    if (audio === null) {
      return void this.#error({ eventId, param: 'audio', message: 'audio must be a string of base64.' });
    }
    const bytes = Buffer.from(audio, 'base64');
    if (bytes.length === 0) return;
    if (this.#session === null && this.#queued === null) void this.#begin();
    this.#withSession(() => this.#session!.write(bytes));
  }

  /** What is open is known once the audio before it was paid for and taken. */
  #commit(): void {
    if (this.#session === null) this.#items.commitNothing();
    else this.#session.finalize(null, () => this.#items.commitNothing());
  }

  #clear(): void {
    if (this.#session === null) this.#items.cleared();
    else this.#session.discard(() => this.#items.cleared());
  }

  /** Now, or once the job is made. */
  #withSession(act: () => void): void {
    if (this.#queued === null) act();
    else this.#queued.push(act);
  }

  async #begin(): Promise<void> {
    this.#queued = [];
    this.#socket.pause();
    const { keyId, requestId, traceparent } = this.#caller;
    const { host, clock, db } = this.#api;
    const settings = this.#settings;
    try {
      // The key, the account or its plan may have changed since the handshake.
      const { shard, id: accountId } = this.#caller.account;
      const account = await requireCurrentCaller(db, { shard, accountId, keyId }, 'jobs:write');
      const request = await permittedRequest(this.#api, settings, account);
      const id = makeId('job', clock);
      const options = liveOptionsOf(settings);
      const session = { account, keyId, traceparent, request, options, tokenHash: null };
      await host.create(id, session, async () => undefined);
      const ids = { request_id: requestId, job_id: id, account_id: accountId };
      this.#api.log.info({ ...ids, ...traceField(traceparent) }, 'live session');
      const key = { shard, accountId, id };
      const taken = await host.take(key, { plan: request.plan, unlimited: account.unlimited });
      if (taken === null) throw new Error('the job of a new session has ended');
      this.#items.useVad(settings.silenceMs !== null);
      this.#session = host.run(taken, this.#userOf());
      this.#stopWaiting();
      this.#send({ type: 'verbatim.job', job_id: id });
    } catch (cause) {
      this.#refuse(cause);
    }
    const queued = this.#queued ?? [];
    this.#queued = null;
    this.#socket.resume();
    if (this.#session !== null) for (const act of queued) act();
  }

  async #closeWithoutAudio(): Promise<void> {
    await this.#api.clock.sleep(MAX_WAIT_MS, this.#waiting.signal);
    if (this.#waiting.signal.aborted || this.#queued !== null) return;
    this.#error({ code: 'no_audio', message: `No audio came for ${MAX_WAIT_MS / 1_000} s.` });
    this.#socket.close(CLOSE.refused, 'no audio');
  }

  #stopWaiting(): void {
    this.#waiting.abort(null);
    this.#caller.leave();
  }

  #refuse(cause: unknown): void {
    if (!(cause instanceof ApiError)) this.#api.log.error({ err: cause }, 'a live session could not be begun');
    const { type, message } =
      cause instanceof ApiError ? cause : { type: 'internal', message: 'The session could not be begun.' };
    this.#error({ code: type, message });
    this.#socket.close(type === 'unavailable' ? CLOSE.overloaded : CLOSE.refused, type);
  }

  #userOf(): HostedUser {
    return {
      pause: () => this.#socket.pause(),
      resume: () => this.#socket.resume(),
      speechStarted: (seconds) => this.#items.started(seconds),
      speechStopped: (seconds) => this.#items.stopped(seconds),
      partial: (partial) => this.#items.partial(partial),
      segment: (segment: LiveSegment) => this.#items.completed(segment.text),
      emptySegment: () => this.#items.completed(''),
      segmentFailed: (_cause, { startSeconds }) => this.#items.failed(startSeconds),
      lost: (reason) => this.#lost(reason),
      ended: (job) => {
        if (job.state === 'failed')
          this.#error({ code: job.errorType ?? 'failed', message: job.errorMessage ?? 'The session failed.' });
        this.#socket.close(job.state === 'failed' ? CLOSE.refused : CLOSE.done, job.state);
      },
      replaced: () => this.#socket.close(CLOSE.refused, 'replaced'),
      keyEnded: () => {
        this.#error({ code: 'unauthenticated', message: 'The key of the session was revoked or has expired.' });
        this.#socket.close(CLOSE.refused, 'unauthenticated');
      },
      restarting: async () => {
        // Its client cannot come back: a transcriber ends the job.
        await this.#session?.leave();
        this.#socket.close(CLOSE.restart, 'the node restarts');
      },
    };
  }

  #lost(reason: Loss['reason']): void {
    this.#error({ code: reason, message: 'The session was ended.' });
    this.#socket.close(reason === 'lost' ? CLOSE.refused : CLOSE.overloaded, reason);
  }

  #error({ eventId = null, code = null, param = null, message }: RealtimeError): void {
    this.#socket.charge(ERROR_MESSAGES);
    this.#send({ type: 'error', error: { type: 'invalid_request_error', code, message, param, event_id: eventId } });
    this.#countError();
  }

  #countError(): void {
    const nowMs = this.#api.clock.now();
    if (nowMs - this.#errors.sinceMs >= 60_000) this.#errors = { sinceMs: nowMs, count: 0 };
    this.#errors.count += 1;
    if (this.#errors.count >= MAX_ERRORS_PER_MINUTE) this.#socket.close(CLOSE.refused, 'too many errors');
  }

  #send(event: object): void {
    this.#socket.send({ event_id: `event_${randomUUID().replaceAll('-', '')}`, ...event });
  }
}

/** @throws ApiError  what cannot be served for these settings */
async function permittedRequest(api: RealtimeApi, settings: RealtimeSettings, account: Account): Promise<JobRequest> {
  const plan = permitPlan('model', planOf(settings.model, account.plan), account.plan);
  const request = requestOf(settings, plan);
  await permitByEngine(api, request, { translate_to: 'translate_to', diarize: 'diarize' });
  return request;
}
