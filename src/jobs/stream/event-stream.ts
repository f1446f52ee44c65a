import { Readable } from 'node:stream';
import { rateLimited } from '../../http/api-error.ts';
import type { JobKey } from '../store.ts';
import {
  type JobNotifications,
  type JobSubscription,
  MAX_SUBSCRIPTIONS,
  MAX_SUBSCRIPTIONS_PER_ACCOUNT,
} from './job-notifications.ts';

const RETRY_SECONDS = 5;

/** A subscription for a stream. @throws ApiError  429 when the account, or this process, has as many as it may have */
export function subscribeForStream(
  notifications: JobNotifications,
  job: JobKey & { accountId: string },
): JobSubscription {
  const subscription = notifications.subscribe(job);
  if (subscription !== null) return subscription;
  const limits = `${MAX_SUBSCRIPTIONS_PER_ACCOUNT} jobs of an account, and ${MAX_SUBSCRIPTIONS} of all, may be followed at once`;
  throw rateLimited(`At most ${limits}. End some streams, or try again.`, RETRY_SECONDS);
}

/**
 * The answer that streams server-sent events. The subscription ends with the request, at the latest.
 * @param frames  each with its blank line
 */
export function answerEvents(frames: AsyncGenerator<string>, subscription: JobSubscription, signal: AbortSignal) {
  // The generator disposes it too, but never runs when the client disconnects before the first read.
  const dispose = () => subscription[Symbol.dispose]();
  if (signal.aborted) dispose();
  else signal.addEventListener('abort', dispose, { once: true });
  return {
    status: 200 as const,
    stream: Readable.from(frames),
    contentType: 'text/event-stream; charset=utf-8',
    // Keeps proxies from buffering the stream.
    headers: { 'x-accel-buffering': 'no' },
  };
}
