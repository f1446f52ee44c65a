import type { TabsProps } from './aria/aria-tabs.tsx';
import { AriaTabs } from './aria/parts.ts';

// Tabs inside of a view. The arrow keys move between them.
//
//   <Tabs label="Code" tabs={[{ name: 'curl', label: 'curl', content: … }, …]} />
//   with `chosen` and `onChoose` the caller keeps the chosen tab, for example in the address (useFilters).

export function Tabs(props: TabsProps) {
  return <AriaTabs {...props} />;
}
