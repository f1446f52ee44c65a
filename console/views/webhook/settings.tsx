import { useQueryClient } from '@tanstack/react-query';
import type { Webhook } from '#sdk/api.ts';
import { api } from '../../api/client.ts';
import { webhookQuery, webhooksQuery } from '../../api/queries.ts';
import { changedFields, type WebhookFields } from '../../deliveries/webhook-fields.ts';
import { WebhookForm } from '../../deliveries/webhook-form.tsx';
import { navigate } from '../../router/address.ts';
import { ConfirmButton } from '../../ui/action-button.tsx';
import { Id } from '../../ui/copy.tsx';
import { Facts, Section } from '../../ui/page.tsx';
import { say } from '../../ui/toast.tsx';

/** Where and what is sent, and the end of the webhook. */
export function Settings({ webhook, keep }: { webhook: Webhook; keep: (changed: Webhook) => void }) {
  const queryClient = useQueryClient();
  const remove = async () => {
    await api.webhooks.delete(webhook.id);
    navigate('/webhooks');
    await queryClient.invalidateQueries({ queryKey: webhooksQuery.queryKey });
    queryClient.removeQueries({ queryKey: webhookQuery(webhook.id).queryKey });
    say('The webhook was deleted.');
  };
  const save = async (fields: WebhookFields) => {
    const changes = changedFields(webhook, fields);
    if (Object.keys(changes).length === 0) return say('Nothing was changed.');
    keep(await api.webhooks.update(webhook.id, changes));
    say('Saved.');
  };
  return (
    <>
      <Section title="Settings">
        <Facts rows={[['Id', <Id key="id" value={webhook.id} />]]} />
        <WebhookForm key={webhook.updated_at} webhook={webhook} submitLabel="Save" save={save} />
      </Section>
      <Section title="Delete">
        <p>Stops all deliveries to this webhook and drops those that wait.</p>
        <ConfirmButton title="Delete this webhook?" confirm="Delete" text={webhook.url} act={remove}>
          Delete
        </ConfirmButton>
      </Section>
    </>
  );
}
