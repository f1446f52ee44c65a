import type { Usage } from '#sdk/wire.ts';
import { Bars } from '../../charts/bars.tsx';
import { clockTime } from '../../text/format.ts';
import { calendarDate } from '../../text/times.ts';
import { Section } from '../../ui/page.tsx';

const DAY_MS = 86_400_000;

/** How much audio was transcribed on each day; nothing where no job has ended. */
export function Days({ usage: { from, to, data } }: { usage: Usage }) {
  if (data.length === 0) return null;
  const start = Math.floor(Date.parse(from) / DAY_MS) * DAY_MS;
  const days = Array.from({ length: Math.ceil((Date.parse(to) - start) / DAY_MS) }, (_, index) => {
    const timeMs = start + index * DAY_MS;
    const rows = data.filter((row) => Date.parse(row.start) === timeMs);
    return { date: calendarDate(timeMs, 'day'), seconds: rows.reduce((sum, row) => sum + row.audio_seconds, 0) };
  });
  const total = clockTime(days.reduce((sum, { seconds }) => sum + seconds, 0));
  return (
    <Section
      title={`Audio by day, ${days.length} days`}
      actions={
        <a href="#/usage" className="button quiet">
          Usage
        </a>
      }
    >
      <div className="days">
        <Bars
          label={`Audio of each day, ${total} in all`}
          values={days.map(({ seconds }) => seconds)}
          titles={days.map(({ date }) => date)}
          format={(seconds) => clockTime(seconds)}
        />
        <p>
          <span>{days[0]!.date}</span> <strong>{total}</strong> <span>{days.at(-1)!.date}</span>
        </p>
      </div>
    </Section>
  );
}
