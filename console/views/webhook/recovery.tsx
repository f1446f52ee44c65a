import { useRef, useState } from 'react';
import type { PostWebhooksIdRecoverBody, Webhook } from '#sdk/api.ts';
import { api } from '../../api/client.ts';
import { localTime } from '../../app/filters.tsx';
import { EVENT_TYPES } from '../../event-types.ts';
import { RequestForm, textOf } from '../../forms/request-form.tsx';
import { ActionButton } from '../../ui/action-button.tsx';
import { Button } from '../../ui/button.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Section } from '../../ui/page.tsx';
import { say } from '../../ui/toast.tsx';
import { recoverAll } from './recover-all.ts';

const STATUSES = [
  ['', 'All that were not accepted'],
  ['failed', 'Failed'],
  ['dropped', 'Dropped'],
  ['none', 'Never sent'],
] as const;
const DAY_MS = 86_400_000;

type Counted = { body: PostWebhooksIdRecoverBody; events: number };

/** Sends all events of a time again that the webhook did not accept. They are counted before anything is sent. */
export function Recovery({ webhook }: { webhook: Webhook }) {
  const [counted, setCounted] = useState<Counted | null>(null);
  const asked = useRef<PostWebhooksIdRecoverBody>(null);
  const forget = () => {
    asked.current = null;
    setCounted(null);
  };
  const count = async (given: FormData) => {
    const body = readBody(given);
    asked.current = body;
    const events = await recoverAll((part) => api.webhooks.recover(webhook.id, part), { ...body, dry_run: true });
    // The form may ask for something else by now.
    if (asked.current === body) setCounted({ body, events });
  };
  const send = async () => {
    const events = await recoverAll((part) => api.webhooks.recover(webhook.id, part), counted!.body);
    setCounted(null);
    say(events === 1 ? '1 event is sent again.' : `${events} events are sent again.`);
  };
  const start = webhook.failing_since ?? new Date(Date.now() - DAY_MS).toISOString();
  return (
    <Section title="Recover missed events">
      <p>
        Sends again every event of a period that this webhook has not accepted. Pending events and tests are left out,
        so nothing is sent twice.
      </p>
      <RequestForm label="Recover" submitLabel="Count" look="plain" send={count}>
        <div className="columns">
          <TextField
            label="Since"
            name="since"
            type="datetime-local"
            required
            defaultValue={localTime(start)}
            onChange={forget}
          />
          <TextField label="Until" name="until" type="datetime-local" hint="Empty: now." onChange={forget} />
          <SelectField
            label="Event"
            name="event_type"
            options={[['', 'All that it subscribes to'], ...EVENT_TYPES.map((type) => [type, type] as const)]}
            onChange={forget}
          />
          <SelectField label="Last result" name="status" options={STATUSES} onChange={forget} />
        </div>
      </RequestForm>
      <div role="status">
        {counted && <p>{counted.events === 1 ? '1 event' : `${counted.events} events`} to send.</p>}
      </div>
      {counted && counted.events > 0 && (
        <div className="actions">
          {webhook.active ? (
            <ActionButton look="primary" act={send}>
              Send {counted.events === 1 ? '1 event' : `${counted.events} events`} again
            </ActionButton>
          ) : (
            <p className="hint">Enable the webhook first.</p>
          )}
          <Button look="quiet" onClick={forget}>
            Cancel
          </Button>
        </div>
      )}
    </Section>
  );
}

function readBody(given: FormData): PostWebhooksIdRecoverBody {
  const [until, type, status] = ['until', 'event_type', 'status'].map((name) => textOf(given, name));
  return {
    since: new Date(String(given.get('since'))).toISOString(),
    ...(until && { until: new Date(until).toISOString() }),
    ...(type && { event_type: type as Webhook['events'][number] }),
    ...(status && { status: status as 'failed' | 'dropped' | 'none' }),
  };
}
