import { type CodeRequest, curlOf, sdkOf } from '../../text/request-code.ts';
import { Code } from '../copy.tsx';
import { Tabs } from '../tabs.tsx';

/** A request as curl and as code for the SDK. */
export default function RequestCodeTabs({ request }: { request: CodeRequest }) {
  const curl = curlOf(request, location.origin);
  const sdk = sdkOf(request, location.origin);
  return (
    <Tabs
      label="Language"
      tabs={[
        { name: 'curl', label: 'curl', content: <Code text={curl} label="curl" /> },
        ...(sdk ? [{ name: 'sdk', label: 'TypeScript', content: <Code text={sdk} label="TypeScript" /> }] : []),
      ]}
    />
  );
}
