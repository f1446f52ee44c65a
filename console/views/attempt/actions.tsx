import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { DeliveryWithExchange } from '#sdk/api.ts';
import { api } from '../../api/client.ts';
import { useMayWrite } from '../../deliveries/use-may-write.ts';
import { navigate } from '../../router/address.ts';
import { ActionButton } from '../../ui/action-button.tsx';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { say } from '../../ui/toast.tsx';
import { readAttempts } from './attempts.ts';
import { curlOf } from './curl.ts';

/** Sending again, which shows the new attempt; the request as curl; the signature debugger. */
export function Actions({ attempt, headerPrefix }: { attempt: DeliveryWithExchange; headerPrefix: string }) {
  const queryClient = useQueryClient();
  const mayWrite = useMayWrite();
  const again = async () => {
    const known = new Set((await readAttempts(attempt)).map(({ id }) => id));
    await api.webhooks.redeliver(attempt.webhook_id, attempt.id);
    const added = (await readAttempts(attempt)).find(({ id }) => !known.has(id));
    await queryClient.invalidateQueries({ queryKey: ['deliveries', attempt.webhook_id] });
    say('The event is sent again.');
    if (!added) return;
    navigate(`/webhooks/${attempt.webhook_id}/deliveries/${added.id}`);
  };
  return (
    <>
      {mayWrite && (
        <ActionButton act={again} look="primary">
          Send again
        </ActionButton>
      )}
      {attempt.request && <AsCurl attempt={attempt} request={attempt.request} headerPrefix={headerPrefix} />}
      {attempt.request && (
        <a className="button" href={`#/debugger?webhook=${attempt.webhook_id}&delivery=${attempt.id}`}>
          Debug the signature
        </a>
      )}
    </>
  );
}

function AsCurl({
  attempt,
  request,
  headerPrefix,
}: {
  attempt: DeliveryWithExchange;
  request: NonNullable<DeliveryWithExchange['request']>;
  headerPrefix: string;
}) {
  const [isOpen, setOpen] = useState(false);
  const { headers, body } = request as { headers: Record<string, string>; body: string | null };
  return (
    <>
      <Button onClick={() => setOpen(true)}>As curl</Button>
      <Dialog isOpen={isOpen} title="The same request with a new signature" onClose={() => setOpen(false)} look="wide">
        <p>
          Needs a shell, curl and Python 3. It asks for the secret of the webhook; own headers have to be filled in.
        </p>
        <Code label="Commands" text={curlOf({ url: attempt.url ?? '', headers, body: body ?? '', headerPrefix })} />
      </Dialog>
    </>
  );
}
