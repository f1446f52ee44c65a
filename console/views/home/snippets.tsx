import { WAYS } from '../../parts/examples.ts';
import { Code } from '../../ui/copy.tsx';
import { Section } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';

const SHOWN = ['curl', 'sdk', 'python'];

/** How a program creates a job: three ways of those that Start has. */
export default function Snippets() {
  return (
    <Section
      title="From your program"
      actions={
        <a href="#/start" className="button quiet">
          More ways
        </a>
      }
    >
      <Tabs
        label="Ways"
        tabs={WAYS.filter(({ name }) => SHOWN.includes(name)).map(({ name, title, code }) => ({
          name,
          label: title,
          content: <Code text={code(location.origin)} label={title} />,
        }))}
      />
    </Section>
  );
}
