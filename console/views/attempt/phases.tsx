import type { DeliveryWithExchange } from '#sdk/api.ts';
import { milliseconds } from '../../text/format.ts';
import { Section } from '../../ui/page.tsx';
import { layOutPhases, type PhaseName, type Waterfall } from './waterfall.ts';

const HEIGHT = 26;
const TITLES: Record<Exclude<PhaseName, 'unfinished'>, string> = {
  dns: 'Name resolution',
  connect: 'TCP connection',
  tls: 'TLS handshake',
  first_byte: 'Request sent, up to the first byte of the answer',
  rest: 'Rest of the answer',
};

/** The phases of an attempt as a bar, and the same as a table. */
export function Phases({ attempt, deadlineMs }: { attempt: DeliveryWithExchange; deadlineMs: number }) {
  const waterfall = layOutPhases(attempt, deadlineMs);
  if (!waterfall) return null;
  const used = `${milliseconds(waterfall.totalMs)} of ${deadlineMs / 1000} s`;
  return (
    <Section title="Phases">
      <p>
        {used}, {waterfall.usedPercent < 1 ? 'less than 1' : Math.round(waterfall.usedPercent)} % of the deadline.
        {attempt.timings.reused && ' The attempt reused an open connection.'}
      </p>
      <Bar waterfall={waterfall} />
      <PhaseTable waterfall={waterfall} unfinished={unfinishedTitle(attempt)} />
    </Section>
  );
}

/** The phase in which an attempt without an answer ended. */
function unfinishedTitle({ remote_address, error, timings }: DeliveryWithExchange): string {
  if (remote_address !== null) return 'Request sent, no complete answer';
  if (timings.connect_ms !== null) return 'TLS handshake, not finished';
  if (error?.reason === 'dns') return 'Name resolution, not finished';
  return error?.reason === 'connect'
    ? 'TCP connection, not finished'
    : 'TCP connection and TLS handshake, not finished';
}

function Bar({ waterfall: { phases, deadlinePercent } }: { waterfall: Waterfall }) {
  return (
    <svg className="phases" width="100%" height={HEIGHT} aria-hidden="true">
      <rect className="ground" width="100%" height={HEIGHT} rx="3" />
      {phases.map(({ name, startPercent, widthPercent }) => (
        <rect
          key={name}
          className={`phase phase-${name}`}
          x={`${startPercent}%`}
          width={`${widthPercent}%`}
          y="3"
          height={HEIGHT - 6}
        />
      ))}
      {deadlinePercent !== null && (
        <line className="deadline" x1={`${deadlinePercent}%`} x2={`${deadlinePercent}%`} y1="0" y2={HEIGHT} />
      )}
    </svg>
  );
}

function PhaseTable({ waterfall: { phases }, unfinished }: { waterfall: Waterfall; unfinished: string }) {
  return (
    <table className="phase-table">
      <caption className="hidden">Phases of the attempt</caption>
      <thead>
        <tr>
          <th scope="col">Phase</th>
          <th scope="col" className="number">
            Began after
          </th>
          <th scope="col" className="number">
            Took
          </th>
        </tr>
      </thead>
      <tbody>
        {phases.map(({ name, startMs, durationMs }) => (
          <tr key={name}>
            <td data-head="Phase">
              <span>
                <svg className={`swatch phase-${name}`} width="10" height="10" aria-hidden="true">
                  <rect width="10" height="10" rx="2" />
                </svg>{' '}
                {name === 'unfinished' ? unfinished : TITLES[name]}
              </span>
            </td>
            <td data-head="Began after" className="number">
              {milliseconds(startMs)}
            </td>
            <td data-head="Took" className="number">
              {milliseconds(durationMs)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
