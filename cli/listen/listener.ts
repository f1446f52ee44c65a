import type { StreamFrame } from '#sdk/client/index.ts';
import type { Forwarder } from './delivery/forwarder.ts';
import { Position } from './position.ts';

export type EventFrame = Extract<StreamFrame, { type: 'event' | 'resend' }>;

export type ListenerOptions = {
  frames: AsyncIterable<StreamFrame>;
  forwarder: Pick<Forwarder, 'accept'>;
  /** Called for each frame as it comes. */
  onFrame(frame: StreamFrame): void | Promise<void>;
  /** Called when --resume may go on from a later place. */
  onPosition(resumeId: string): void;
  /** Resends of other webhooks are left out; null: none. */
  webhookId: string | null;
};

/**
 * Forwards each event of the stream, as long as there are frames. An event counts as done after its last attempt,
 * whatever came of it. @throws what the stream throws, and the reason of the forwarder's signal
 */
export async function runListener(options: ListenerOptions): Promise<void> {
  const { frames, forwarder, onFrame, onPosition, webhookId } = options;
  const position = new Position();
  let last: string | null = null;
  const settle = (done: () => void) => {
    done();
    const { resumeId } = position;
    if (resumeId === null || resumeId === last) return;
    last = resumeId;
    onPosition(resumeId);
  };
  for await (const frame of frames) {
    const done = position.begin(frame.resumeId);
    const isOther = frame.type === 'resend' && webhookId !== null && frame.data.webhook_id !== webhookId;
    if (!isOther) await onFrame(frame);
    if (isOther || !isEventFrame(frame)) {
      settle(done);
      continue;
    }
    const { ended } = await forwarder.accept(frame.data);
    // Rejected when the signal aborts: then it is not done.
    ended.then(
      () => settle(done),
      () => undefined,
    );
  }
}

export function isEventFrame(frame: StreamFrame): frame is EventFrame {
  return frame.type === 'event' || frame.type === 'resend';
}
