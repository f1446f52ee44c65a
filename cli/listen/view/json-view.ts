import type { Output } from '../../terminal/output.ts';
import type { View } from './view.ts';

/**
 * One JSON object in a line for each frame of the stream, and for each attempt: `frame` names its kind. All else goes
 * to standard error.
 */
export function openJsonView(out: Output, lines: View): View {
  return {
    ...lines,
    frame(frame) {
      out.jsonLine({ frame: frame.type, ...frame.data });
    },
    attempt({ event, url, attempt, outcome, durationMs, retryInMs }) {
      const answered = outcome.kind === 'answered';
      out.jsonLine({
        frame: 'attempt',
        event_id: event.id,
        event_type: event.type,
        url: url.href,
        attempt,
        status: answered ? outcome.status : null,
        error: answered ? null : { reason: outcome.reason, message: outcome.message },
        duration_ms: Math.round(durationMs),
        retry_in_ms: retryInMs,
      });
    },
  };
}
