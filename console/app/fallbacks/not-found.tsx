import { Page } from '../../ui/page.tsx';
import { Empty } from '../../ui/state.tsx';

/** For an address without a view. */
export function NotFound() {
  return (
    <Page title="Not found">
      <Empty title="The console has no such page.">
        <p>
          <a href="#/">Home</a>
        </p>
      </Empty>
    </Page>
  );
}
