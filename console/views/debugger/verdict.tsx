import type { SignatureDiagnosis } from '#sdk/api.ts';
import { Badge } from '../../ui/badge.tsx';
import { Section } from '../../ui/page.tsx';

const TONES = { ok: 'good', wrong: 'bad', unknown: 'neutral' } as const;
const CHECKS = { headers: 'Headers', time: 'Time', signature: 'Signature', body: 'Body' } as const;

/** What was found: the first cause, what to do about it, each check, and where the body differs from the one sent. */
export function Verdict({ diagnosis, by }: { diagnosis: SignatureDiagnosis; by: 'browser' | 'service' }) {
  const { verdict, causes, fix, checks, difference } = diagnosis;
  return (
    <>
      <section className={verdict === 'genuine' ? 'notice' : 'notice problem'} aria-label="Verdict">
        <h2>
          <Badge tone={verdict === 'genuine' ? 'good' : 'bad'}>{verdict}</Badge>
        </h2>
        <p>{fix}</p>
        {causes.length > 1 && <p>Also: {causes.slice(1).join(', ')}.</p>}
        {verdict === 'unexplained' && by === 'browser' && (
          <p>The service knows the body that was sent and all secrets of the account. Check there.</p>
        )}
      </section>
      <Section title="Checks">
        <table>
          <caption className="hidden">Checks</caption>
          <thead>
            <tr>
              <th scope="col">Check</th>
              <th scope="col">Result</th>
              <th scope="col">Found</th>
            </tr>
          </thead>
          <tbody>
            {checks.map(({ name, result, message, expected, found }) => (
              <tr key={name}>
                <td data-head="Check">{CHECKS[name]}</td>
                <td data-head="Result">
                  <Badge tone={TONES[result]}>{result}</Badge>
                </td>
                <td data-head="Found">
                  <span>
                    {message}
                    {result === 'wrong' && <small> Expected: {expected}.</small>}
                    {result === 'wrong' && found && !message.includes(found) && <small> Found: {found}.</small>}
                  </span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
      {difference && <Difference difference={difference} />}
    </>
  );
}

function Difference({ difference }: { difference: NonNullable<SignatureDiagnosis['difference']> }) {
  const { at, sent, received, sent_bytes, received_bytes } = difference;
  return (
    <Section title={`The body differs from byte ${at} on`}>
      <dl className="facts">
        <div>
          <dt>Sent, {sent_bytes} bytes</dt>
          <dd>
            <code>{sent}</code>
          </dd>
        </div>
        <div>
          <dt>Received, {received_bytes} bytes</dt>
          <dd>
            <code>{received}</code>
          </dd>
        </div>
      </dl>
    </Section>
  );
}
