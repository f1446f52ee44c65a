import { CLOSE, type OpenSocket, type SocketUser } from '../http/websocket/open-socket.ts';
import { cancelJob } from '../jobs/api/control.ts';
import type { LiveSegment } from '../jobs/live/live-segment.ts';
import { findLiveSegments, findLiveSession } from '../jobs/live/live-store.ts';
import { findJob } from '../jobs/store.ts';
import { showJob } from '../jobs/view.ts';
import { retryWhileAway } from '../jobs/work/retry-while-away.ts';
import { writeJson } from '../platform/json.ts';
import { isTerminal } from '../rules/jobs/job-state.ts';
import { durationMs } from '../rules/live/encoding.ts';
import type { HostedUser, LiveApi, Taken } from './live-host.ts';
import { type ClientMessage, partialMessage, readMessage, rounded, segmentMessage } from './messages.ts';
import type { EndReason, Loss } from './session/held-session.ts';
import type { RunningSession } from './session/running-session.ts';

export const SUBPROTOCOL = 'verbatim.live.v1';
const HEARTBEAT_SECONDS = 15;
const PARTIAL_EVERY_MS = 200;
const PARTIALS_UNSENT_MAX_BYTES = 256 * 1024;
const FULL_CHECK_MS = 50;
const TICK_MS = 1_000;
const MAX_BAD_MESSAGES = 10;
const RECONNECT_AFTER_MS = 500;
const GAP_MESSAGES = 10;
const SEGMENTS_PER_READ = 100;
const LENGTH_WARNINGS_SECONDS = [600, 300, 60];
const END_CODES = {
  out_of_balance: CLOSE.outOfBalance,
  too_long: CLOSE.tooLong,
  idle: CLOSE.idle,
  other_format: CLOSE.otherFormat,
};
const LOSS_CODES = { failed: CLOSE.internal, away: CLOSE.overloaded };

/**
 * A client of `/v1/live/:job_id`: its frames become calls of the session, what the session decides becomes messages.
 */
export class LiveConnection implements SocketUser {
  readonly #api: LiveApi;
  readonly #socket: OpenSocket;
  readonly #session: RunningSession;
  readonly #closed = new AbortController();
  /** The last numbered message that was sent. */
  #sentNumber: number;
  #isCaughtUp = false;
  readonly #caughtUp: Promise<void>;
  #partial: ReturnType<typeof partialMessage> | null = null;
  #partialAtMs = 0;
  #ackedAtMs: number;
  #badMessages = 0;

  constructor(api: LiveApi, socket: OpenSocket, { taken, after }: { taken: Taken; after: number }) {
    const { job, row } = taken;
    this.#api = api;
    this.#socket = socket;
    this.#sentNumber = Math.min(after, row.segments);
    this.#ackedAtMs = api.clock.now();
    socket.send({
      type: 'hello',
      job_id: job.id,
      connection: row.connections,
      resumed: row.connections > 1,
      offset: row.durableBytes,
      next_seq: row.segments + 1,
      model: taken.place.engine.name,
      language: job.language,
      heartbeat_seconds: HEARTBEAT_SECONDS,
    });
    this.#session = api.host.run(taken, this.#userOf());
    this.#caughtUp = this.#sendStored();
    void this.#tick();
  }

  binary(bytes: Buffer): void {
    if (!this.#session.is('running')) return;
    this.#warnOfLength(bytes.length);
    this.#session.write(bytes);
  }

  text(text: string): void {
    const read = readMessage(text);
    if ('bad' in read) this.#refuse(read.bad);
    else this.#act(read.ok);
  }

  closed(code: number): void {
    this.#closed.abort(null);
    this.#api.host.connectionClosed(code);
    const { job } = this.#session;
    this.#api.log.info(
      {
        job_id: job.id,
        account_id: job.accountId,
        connection: this.#session.row.connections,
        close_code: code,
        received_bytes: this.#session.audio.cameBytes - this.#session.row.durableBytes,
        behind_seconds: rounded(this.#session.mostBehindSeconds),
      },
      'live connection',
    );
    if (this.#session.is('running')) void this.#session.leave();
  }

  #userOf(): HostedUser {
    return {
      pause: () => this.#socket.pause(),
      resume: () => this.#socket.resume(),
      acknowledged: (offset) => this.#acknowledge(offset),
      speechStarted: (startSeconds) => this.#socket.send({ type: 'speech_started', start: rounded(startSeconds) }),
      partial: (partial) => this.#showPartial(partialMessage(partial)),
      segment: (segment) => this.#sendSegment(segment),
      segmentFailed: (_cause, { startSeconds, endSeconds }) =>
        this.#warn('segment_failed', 'The engine failed on a part of the audio; its text is missing.', {
          start: rounded(startSeconds),
          end: rounded(endSeconds),
        }),
      // After the segments before it, which may still be read.
      finalized: (id, offset) => void this.#caughtUp.then(() => this.#socket.send({ type: 'finalized', id, offset })),
      balanceLow: (secondsLeft) =>
        this.#warn('balance_low', 'The balance does not cover more audio than this; add credits.', {
          seconds_left: rounded(secondsLeft),
        }),
      lost: (reason) => void this.#lost(reason),
      caughtUp: () => this.#caughtUp,
      ended: (ended, reason) => this.#sendDone(showJob(ended), reason),
      replaced: () => this.#close(CLOSE.replaced, 'another connection has the session'),
      keyEnded: () => void this.#closeWithKey(),
      restarting: () => this.#restart(),
    };
  }

  #act(message: ClientMessage): void {
    switch (message.type) {
      case 'finalize':
        this.#session.finalize(message.id);
        break;
      case 'gap':
        // It becomes a row.
        this.#socket.charge(GAP_MESSAGES);
        if (!this.#session.gap(message.to)) {
          this.#refuse({ param: 'to', message: 'to lies before the audio that was received already.' });
        }
        break;
      case 'finish':
        void this.#session.finish();
        break;
      case 'cancel':
        void this.#cancel();
        break;
      case 'keepalive':
        this.#session.keepAlive();
    }
  }

  #acknowledge(offset: number): void {
    this.#ackedAtMs = this.#api.clock.now();
    this.#socket.send({ type: 'ack', offset });
  }

  #showPartial(partial: ReturnType<typeof partialMessage>): void {
    if (!this.#session.row.options.partials) return;
    const waitMs = this.#partialAtMs + PARTIAL_EVERY_MS - this.#api.clock.now();
    const isWaiting = this.#partial !== null;
    this.#partial = partial;
    if (waitMs <= 0) this.#sendPartial();
    else if (!isWaiting) void this.#api.clock.sleep(waitMs, this.#closed.signal).then(() => this.#sendPartial());
  }

  #sendPartial(): void {
    if (this.#partial !== null && this.#socket.unsentBytes < PARTIALS_UNSENT_MAX_BYTES) {
      this.#partialAtMs = this.#api.clock.now();
      this.#socket.send(this.#partial);
    }
    this.#partial = null;
  }

  #sendSegment(segment: LiveSegment): void {
    // Words of the next segment may wait already.
    if (this.#partial !== null && this.#partial.start < segment.endSeconds) this.#partial = null;
    // Those that are stored come first; this one is stored too.
    if (this.#isCaughtUp) this.#sendNext(segment);
  }

  #sendNext(segment: LiveSegment): void {
    this.#sentNumber = segment.number;
    this.#socket.send(segmentMessage(segment, this.#session.job.wordTimes));
  }

  /** The segments that the client has not got, then those that come. */
  async #sendStored(): Promise<void> {
    const { signal } = this.#closed;
    const away = { waits: 'the segments of a live session', jobId: this.#session.job.id, signal };
    try {
      while (!signal.aborted) {
        if (this.#socket.isUnread) {
          await this.#api.clock.sleep(FULL_CHECK_MS, signal);
          continue;
        }
        const durable = this.#session.entry.durable.segments;
        const page = { after: this.#sentNumber, limit: SEGMENTS_PER_READ };
        const stored = await retryWhileAway(this.#api, away, () =>
          findLiveSegments(this.#api.db, this.#session.row, page),
        );
        for (const segment of stored) this.#sendNext(segment);
        // The job has ended elsewhere, and its rows are gone: the lost lease closes the connection.
        if (stored.length === 0 && this.#sentNumber < durable) return;
        if (this.#sentNumber >= this.#session.entry.durable.segments) break;
      }
      this.#isCaughtUp = true;
    } catch (cause) {
      if (signal.aborted) return;
      this.#api.log.error(
        { job_id: this.#session.job.id, err: cause },
        'the segments of a live session could not be read',
      );
      this.#close(CLOSE.internal, 'the stored segments could not be read');
    }
  }

  #warn(code: string, message: string, more: Record<string, number>): void {
    this.#socket.send({ type: 'warning', code, message, ...more });
  }

  #warnOfLength(bytes: number): void {
    const { options } = this.#session.row;
    const secondsAt = (at: number) => this.#api.config.maxAudioSeconds - durationMs(options, at) / 1000;
    const [before, after] = [
      secondsAt(this.#session.audio.cameBytes),
      secondsAt(this.#session.audio.cameBytes + bytes),
    ];
    const passed = LENGTH_WARNINGS_SECONDS.find((seconds) => before > seconds && after <= seconds);
    if (passed === undefined) return;
    this.#warn('session_ending', 'The session ends when its audio is as long as it may be.', { seconds_left: passed });
  }

  #refuse({ message, param }: { message: string; param: string | null }): void {
    this.#badMessages += 1;
    this.#socket.send({ type: 'error', error: { type: 'invalid_message', message, ...(param !== null && { param }) } });
    if (this.#badMessages >= MAX_BAD_MESSAGES)
      this.#close(CLOSE.badMessages, 'too many messages that are not understood');
  }

  async #cancel(): Promise<void> {
    if (!(await this.#session.cancel())) return;
    try {
      const { shard, accountId, id } = this.#session.job;
      this.#sendDone((await cancelJob(this.#api, { shard, id: accountId }, id)).body);
    } catch (cause) {
      this.#api.log.warn({ job_id: this.#session.job.id, err: cause }, 'a live session could not be canceled');
      this.#close(CLOSE.internal, 'the session could not be canceled');
    }
  }

  #sendDone(job: ReturnType<typeof showJob>, reason: EndReason | null = null): void {
    if (reason === 'other_format') this.#socket.send({ type: 'error', error: job.error });
    this.#socket.sendText(writeJson({ type: 'done', seq: this.#session.entry.durable.segments + 1, job }));
    this.#close(reason === null ? CLOSE.done : END_CODES[reason], job.status);
  }

  /** From a transcriber a client that connects again takes the session. */
  async #lost(reason: Loss['reason']): Promise<void> {
    if (reason !== 'lost') return this.#close(LOSS_CODES[reason], reason);
    const { db } = this.#api;
    const { job, row } = this.#session;
    const [jobNow, rowNow] = await Promise.all([findJob(db, job), findLiveSession(db, row)]).catch(() => []);
    const hasEnded = jobNow === null || (jobNow !== undefined && isTerminal(jobNow.state));
    if (hasEnded) this.#close(CLOSE.ended, 'the job has ended');
    else if (rowNow?.isConnected && rowNow.lease > row.lease)
      this.#close(CLOSE.replaced, 'another connection has the session');
    else this.#close(CLOSE.overloaded, 'the lease of the session was lost');
  }

  async #restart(): Promise<void> {
    this.#socket.send({ type: 'going_away', reconnect_after_ms: RECONNECT_AFTER_MS });
    await this.#session.leave();
    this.#close(CLOSE.restart, 'the node restarts');
  }

  /** What finishes already is ended all the same. */
  async #closeWithKey(): Promise<void> {
    if (this.#session.is('running')) await this.#session.leave();
    this.#close(CLOSE.unauthenticated, 'the key of the session has ended');
  }

  #close(code: number, reason: string): void {
    this.#socket.close(code, reason.slice(0, 100));
  }

  async #tick(): Promise<void> {
    const { clock } = this.#api;
    const { signal } = this.#closed;
    while (!signal.aborted) {
      await clock.sleep(TICK_MS, signal);
      // A page does not see pings: this is how its script knows that the connection works.
      if (clock.now() - this.#ackedAtMs >= HEARTBEAT_SECONDS * 1000)
        this.#acknowledge(this.#session.entry.durable.durableBytes);
    }
  }
}
