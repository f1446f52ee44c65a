import { CodeXml } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import type { CodeRequest } from '../../text/request-code.ts';
import { Button } from '../button.tsx';
import { Dialog } from '../dialog.tsx';
import { Loading } from '../state.tsx';

const RequestCodeTabs = lazy(() => import('./request-code-tabs.tsx'));

/**
 * A button that shows the request behind a list or a form, as curl and as code for the SDK. The key is left out.
 *
 *   <AsCode request={{ method: 'GET', path: '/v1/jobs', query: filters, sdk: 'client.jobs.list' }} />
 */
export function AsCode({ request, children = 'As code' }: { request: CodeRequest; children?: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button look="quiet" onClick={() => setOpen(true)}>
        <CodeXml />
        {children}
      </Button>
      <Dialog isOpen={isOpen} title="The same request" onClose={() => setOpen(false)} look="wide">
        <Suspense fallback={<Loading />}>
          <RequestCodeTabs request={request} />
        </Suspense>
      </Dialog>
    </>
  );
}
