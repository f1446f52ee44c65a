import type { Output } from '../../terminal/output.ts';
import type { Part } from '../../terminal/part.ts';
import type { Attempt } from '../delivery/forwarder.ts';
import { isSuccess } from '../delivery/post.ts';
import { isEventFrame } from '../listener.ts';
import type { View } from './view.ts';

const SHOWN_SECRET_CHARS = 10;
const TYPE_WIDTH = 23;

/**
 * A line for each attempt, on standard output; all else on standard error.
 * @param hasKeys  the user can press r
 */
export function openLineView(out: Pick<Output, 'mode' | 'line' | 'note'>, { hasKeys }: { hasKeys: boolean }): View {
  let isLost = false;
  return {
    start({ account, targets, secret, secretSource }) {
      const name = account.name === null ? account.plan : `${account.name} (${account.plan})`;
      const where = targets === '' ? 'no target: events are shown only (--forward-to)' : `to ${targets}`;
      out.note(`listening as ${name} · ${where} · secret ${secret.slice(0, SHOWN_SECRET_CHARS)}…  (${secretSource})`);
      if (hasKeys)
        out.note({ text: 'r sends again what failed, q quits; --tui shows events and their details', style: 'dim' });
    },
    frame(frame, isForwarded) {
      if (frame.type === 'gap') {
        const oldest = frame.data.oldest_id ?? 'none';
        out.note({
          text: `Events after ${frame.data.from} are no longer kept; the oldest is ${oldest}.`,
          style: 'yellow',
        });
      }
      if (!isEventFrame(frame) || isForwarded) return;
      if (out.mode === 'ids') out.line(frame.data.id);
      else out.line(clock(new Date()), '  ·  ', frame.data.type.padEnd(TYPE_WIDTH), '  ', frame.data.id);
    },
    attempt(attempt) {
      if (out.mode === 'ids') out.line(attempt.event.id);
      else out.line(...describeAttempt(attempt, hasKeys));
    },
    target({ host }, isUp) {
      if (isUp) out.note({ text: `${host} accepts connections again`, style: 'green' });
      else out.note({ text: `nothing listens on ${host}: start your server`, style: 'yellow' });
    },
    connection(change) {
      if (change.state === 'lost') {
        const seconds = Math.ceil(change.retryInMs / 1000);
        out.note({ text: `connection lost: ${change.error.message} Again in ${seconds} s.`, style: 'yellow' });
      } else if (isLost) out.note({ text: 'connected again', style: 'green' });
      isLost = change.state === 'lost';
    },
  };
}

function describeAttempt(made: Attempt, hasKeys: boolean): Part[] {
  const { event, url, attempt, outcome, durationMs, retryInMs } = made;
  const isFirst = attempt === 1;
  const head = [clock(new Date()), isFirst ? '  →  ' : '  ↻  ', event.type.padEnd(TYPE_WIDTH), '  ', event.id, '  '];
  const time = `${Math.round(durationMs)} ms`.padStart(7);
  if (isSuccess(outcome) && outcome.kind === 'answered') {
    return [...head, time, '  ', { text: String(outcome.status), style: 'green' }, `  ${url.pathname}`];
  }
  const next =
    retryInMs !== null ? ` again in ${Math.ceil(retryInMs / 1000)} s` : hasKeys ? ' kept, r sends it again' : '';
  if (outcome.kind === 'failed') {
    return [...head, { text: outcome.message, style: 'red' }, { text: next, style: 'dim' }];
  }
  const isRedirect = outcome.status >= 300 && outcome.status < 400;
  const hint = isRedirect ? ' redirects are not followed' : '';
  const status: Part = { text: String(outcome.status), style: 'red' };
  return [...head, time, '  ', status, `  ${url.pathname}`, { text: hint + next, style: 'dim' }];
}

/** The local time of day. */
function clock(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
