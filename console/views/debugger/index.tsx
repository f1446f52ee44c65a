import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { DeliveryWithExchange, SignatureDiagnosis } from '#sdk/api.ts';
import { FRAMEWORKS, type Framework } from '#sdk/webhooks/explain/frameworks.ts';
import { api } from '../../api/client.ts';
import { deliveryQuery, useAccount, webhooksQuery } from '../../api/queries.ts';
import { useFilters } from '../../app/filters.tsx';
import { useMayWrite } from '../../deliveries/use-may-write.ts';
import { RequestForm, textOf, WrongField } from '../../forms/request-form.tsx';
import { SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Query } from '../../ui/state.tsx';
import { EXAMPLE_SECRET, exampleRequest } from './example.ts';
import { explainHere } from './explain-here.ts';
import { type PastedRequest, parsePastedRequest, writeRequest } from './pasted-request.ts';
import { Verdict } from './verdict.tsx';

const PREFIX = 'X-Service-';

/** Says why a received delivery does not verify. Opened empty, or with `?webhook=…&delivery=…` from an attempt. */
export default function DebuggerView() {
  const [{ webhook = '', delivery = '' }] = useFilters();
  const sent = useQuery({ ...deliveryQuery(webhook, delivery), enabled: webhook !== '' && delivery !== '' });
  return (
    <Page title="Signature debugger">
      <p>
        Paste a request as your server received it. The debugger tries every known mistake until the signature matches,
        and names it.{delivery === '' && ' This example contains one: press Explain.'}
      </p>
      {delivery === '' ? (
        <DebuggerForm sent={null} webhookId={webhook} />
      ) : (
        <Query of={sent}>{(found) => <DebuggerForm key={found.id} sent={found} webhookId={webhook} />}</Query>
      )}
    </Page>
  );
}

type Answer = { diagnosis: SignatureDiagnosis; by: 'browser' | 'service' };

function DebuggerForm({ sent, webhookId }: { sent: DeliveryWithExchange | null; webhookId: string }) {
  const { data: account } = useAccount();
  const headerPrefix = account?.webhook_header_prefix ?? PREFIX;
  const [answer, setAnswer] = useState<Answer | null>(null);
  const mayWrite = useMayWrite();
  const [chosen, setBy] = useState<Answer['by']>(sent ? 'service' : 'browser');
  const by = mayWrite ? chosen : 'browser';
  const isExample = sent === null;
  const explain = async (given: FormData) => {
    const request = readRequest(given);
    const received = textOf(given, 'received');
    const receivedAt = received ? new Date(received) : null;
    const framework = textOf(given, 'framework') as Framework | null;
    const askService = () =>
      api.webhooks.diagnose(webhookOf(given, webhookId), {
        ...request,
        ...(receivedAt && { received_at: receivedAt.toISOString() }),
        ...(framework && { framework }),
      });
    const explainInBrowser = () => {
      const question = { ...request, secret: secretOf(given), receivedAt: receivedAt?.getTime() ?? null, framework };
      return explainHere({ ...question, attempt: sent, headerPrefix });
    };
    setAnswer({ diagnosis: by === 'service' ? await askService() : explainInBrowser(), by });
  };
  const clear = () => setAnswer(null);
  return (
    <>
      <Section>
        <RequestForm label="Received delivery" submitLabel="Explain" send={explain}>
          <TextArea
            label="Request"
            name="request"
            rows={12}
            required
            defaultValue={
              isExample ? exampleRequest(headerPrefix) : sent?.request ? writeRequest(sent.request as never) : ''
            }
            onChange={clear}
            hint={
              sent
                ? 'This is what was sent. Replace it with what your server received, exactly, before any parsing.'
                : 'Headers, an empty line, then the body, exactly as received. The output of curl -v and the event of a cloud function work, too.'
            }
          />
          <HowFields {...{ by, setBy, mayWrite, webhookId, clear, isExample }} />
        </RequestForm>
      </Section>
      <div role="status">{answer && <Verdict {...answer} />}</div>
    </>
  );
}

/** How the request is checked: by whom, with which secret, for which framework, and when it came. */
function HowFields({
  by,
  setBy,
  mayWrite,
  webhookId,
  clear,
  isExample,
}: {
  by: Answer['by'];
  setBy: (by: Answer['by']) => void;
  mayWrite: boolean;
  webhookId: string;
  clear: () => void;
  isExample: boolean;
}) {
  return (
    <div className="columns">
      <SelectField
        label="Check"
        name="by"
        value={by}
        onChange={(event) => {
          setBy(event.target.value as Answer['by']);
          clear();
        }}
        options={[
          ['browser', 'In this browser, with a secret'],
          ...(mayWrite ? [['service', 'By the service, with the stored secrets'] as const] : []),
        ]}
        hint={
          by === 'browser'
            ? 'The secret stays in this tab: it is not sent.'
            : 'Also compares the body with the one that was sent, if it is still stored.'
        }
      />
      {by === 'browser' ? (
        <TextField
          label="Secret"
          name="secret"
          type="password"
          autoComplete="off"
          placeholder="whsec_…"
          defaultValue={isExample ? EXAMPLE_SECRET : ''}
          onChange={clear}
        />
      ) : (
        <WebhookField webhookId={webhookId} />
      )}
      <SelectField
        label="Framework"
        name="framework"
        options={[['', 'From the headers'], ...Object.entries(FRAMEWORKS)]}
        onChange={clear}
        hint="The advice is for this framework."
      />
      <TextField
        label="Received at"
        name="received"
        type="datetime-local"
        step={1}
        onChange={clear}
        hint="By the clock of your server. Empty: the time of its answer."
      />
    </div>
  );
}

function WebhookField({ webhookId }: { webhookId: string }) {
  const webhooks = useQuery(webhooksQuery);
  return (
    <Query of={webhooks}>
      {({ data }) => (
        <SelectField
          label="Webhook"
          name="webhook"
          defaultValue={webhookId}
          options={data.map(({ id, url }) => [id, url] as const)}
        />
      )}
    </Query>
  );
}

/** @throws WrongField */
function readRequest(given: FormData): PastedRequest {
  // Form data has CRLF for each line end that the user sees.
  const request = parsePastedRequest(String(given.get('request')).replaceAll('\r\n', '\n'));
  if (!request) throw new WrongField('This is not a request. Paste the headers, an empty line, then the body.');
  return request;
}

function secretOf(given: FormData): string {
  const secret = String(given.get('secret') ?? '');
  if (secret === '') throw new WrongField('Enter the secret of the webhook, as your server has it.');
  return secret;
}

/** @param known  that of the address, while the list of webhooks is loading */
function webhookOf(given: FormData, known: string): string {
  const webhook = textOf(given, 'webhook') ?? known;
  if (webhook === '') throw new WrongField('Choose the webhook that sent the request.');
  return webhook;
}
