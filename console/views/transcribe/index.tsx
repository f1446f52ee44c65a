import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/state.tsx';

export default function View() {
  return (
    <Page title="Transcribe">
      <Empty title="This page comes in the next version.">
        <p>
          The API offers all of it: see the <a href="/docs">reference</a>.
        </p>
      </Empty>
    </Page>
  );
}
