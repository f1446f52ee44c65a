import type { ReactNode } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components/Tabs';

/** One of several contents. */
export type TabOption = { name: string; label: ReactNode; content: ReactNode };

/** See ui/tabs.tsx. */
export type TabsProps = {
  label: string;
  tabs: readonly TabOption[];
  chosen?: string | undefined;
  onChoose?: (name: string) => void;
};

export function AriaTabs({ label, tabs, chosen, onChoose }: TabsProps) {
  const known = chosen === undefined || tabs.some(({ name }) => name === chosen);
  const selection = chosen === undefined ? {} : { selectedKey: known ? chosen : (tabs[0]?.name ?? '') };
  return (
    <Tabs {...selection} onSelectionChange={(name) => onChoose?.(String(name))}>
      <TabList className="tabs" aria-label={label}>
        {tabs.map((tab) => (
          <Tab key={tab.name} id={tab.name} className="tab">
            {tab.label}
          </Tab>
        ))}
      </TabList>
      {tabs.map(({ name, content }) => (
        <TabPanel key={name} id={name} className="tab-panel">
          {content}
        </TabPanel>
      ))}
    </Tabs>
  );
}
