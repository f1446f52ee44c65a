import { prettyJson } from '../../../text/json-text.ts';
import { Code } from '../../../ui/copy.tsx';
import { Section } from '../../../ui/page.tsx';
import { Empty } from '../../../ui/state.tsx';

/** The metadata as the client wrote it: numbers keep all their digits. @param text  JSON; null without metadata */
export function MetadataTab({ text }: { text: string | null }) {
  if (text === null) {
    return <Empty title="This job has no metadata." command={'transcribe call.mp3 --metadata \'{"order": 42}\''} />;
  }
  return (
    <Section title="Metadata">
      <Code text={prettyJson(text)} label="Metadata" />
    </Section>
  );
}
