import type { DeliveryWithExchange } from '#sdk/api.ts';
import { prettyJson } from '../../text/json-text.ts';
import { Code } from '../../ui/copy.tsx';
import { Section } from '../../ui/page.tsx';
import { type HeaderOwner, ownerOfHeader } from './headers.ts';

type Headers = Record<string, string | string[]>;

const MARKS: Record<HeaderOwner, string | null> = { service: 'service', own: 'yours', http: null };

/** The request as it was sent and the answer, side by side on wide screens. */
export function Exchange({
  attempt: { request, response, status },
  ownNames,
  headerPrefix,
}: {
  attempt: DeliveryWithExchange;
  /** Names of the webhook's own headers. */
  ownNames: readonly string[];
  headerPrefix: string;
}) {
  const markOf = (name: string) => MARKS[ownerOfHeader(name, ownNames, headerPrefix)];
  return (
    <div className="exchange">
      <Section title="Request">
        {request ? (
          <>
            <HeaderTable label="Headers of the request" headers={request.headers as Headers} markOf={markOf} />
            {request.body === null ? (
              <p>The body is no longer kept.</p>
            ) : (
              <Code label="Body of the request" text={prettyJson(request.body)} />
            )}
          </>
        ) : (
          <p>{status === 'pending' ? 'Not sent yet.' : 'Nothing was sent: there was no connection.'}</p>
        )}
      </Section>
      <Section title="Answer">
        {response ? (
          <>
            <HeaderTable label="Headers of the answer" headers={response.headers as Headers} markOf={() => null} />
            {response.body === '' ? (
              <p>No body.</p>
            ) : (
              <Code label="Body of the answer" text={prettyJson(response.body)} />
            )}
            <p className="hint">The log keeps the first 4 KiB of the headers and of the body.</p>
          </>
        ) : (
          <p>No answer.</p>
        )}
      </Section>
    </div>
  );
}

function HeaderTable({
  label,
  headers,
  markOf,
}: {
  label: string;
  headers: Headers;
  markOf: (name: string) => string | null;
}) {
  return (
    <table className="headers">
      <caption className="hidden">{label}</caption>
      <thead className="hidden">
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Value</th>
        </tr>
      </thead>
      <tbody>
        {Object.entries(headers).map(([name, value]) => {
          const mark = markOf(name);
          return (
            <tr key={name}>
              <td data-head="Name">
                <span>
                  <code>{name}</code> {mark && <small className={mark === 'yours' ? 'mark own' : 'mark'}>{mark}</small>}
                </span>
              </td>
              <td data-head="Value">
                <code>{[value].flat().join(', ')}</code>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
