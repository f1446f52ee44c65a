import type { Session } from '../../command.ts';
import { CommandError } from '../../exit.ts';
import { type ForwardedEvent, localHeaders } from '../../listen/delivery/local-delivery.ts';
import { isSuccess, post } from '../../listen/delivery/post.ts';
import { readTarget } from '../../listen/delivery/targets.ts';
import { chooseSecret } from '../../listen/secret.ts';
import { readState, stateFile, writeState } from '../../listen/state-file.ts';
import { state } from '../../terminal/format.ts';

/**
 * Sends an event from this machine to a target, signed as `verbatim listen` signs, and shows the target's answer.
 * @param secret  as --secret of `verbatim listen`
 * @throws CommandError  without a 2xx
 */
export async function sendLocally(
  session: Session,
  event: ForwardedEvent,
  { to, secret }: { to: string; secret: string | undefined },
): Promise<void> {
  const { io, out } = session;
  const url = readTarget(to);
  const file = stateFile(io.env, session.connection().profile);
  const kept = readState(file);
  const chosen = chooseSecret({ from: secret, renew: false }, io.env, kept);
  if (chosen.isNew) writeState(file, { ...kept, secret: chosen.secret });
  const { webhook_header_prefix: headerPrefix } = await (await session.client()).account();
  const signing = { secret: chosen.secret, headerPrefix };
  const headers = localHeaders(event, signing, { attempt: 1, nowMs: Date.now() });
  const outcome = await post(url, { headers, body: event.body }, io.signal);
  const isDone = isSuccess(outcome);
  const found = outcome.kind === 'answered' ? `answered ${outcome.status}` : outcome.message;
  out.show({
    json: { event_id: event.id, type: event.type, url: url.href, outcome },
    ids: [event.id],
    lines: [[state(isDone ? 'ok' : 'failed'), `  ${event.type}  ${event.id}  ${url.href}  ${found}`]],
  });
  if (!isDone) throw new CommandError(out.mode === 'text' ? '' : found);
}
