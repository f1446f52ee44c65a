import type { Usage } from '#sdk/wire.ts';
import { Bars } from '../../charts/bars.tsx';
import { clockTime } from '../../text/format.ts';
import { calendarDate } from '../../text/times.ts';
import { Section } from '../../ui/page.tsx';

const DAY_MS = 86_400_000;
const SHOWN_DAYS = 14;

/** How much audio was transcribed on each day until today. One bar would say no more than a figure: it is left out. */
export function Days({ usage: { to, data } }: { usage: Usage }) {
  const end = Math.ceil(Date.parse(to) / DAY_MS) * DAY_MS;
  const days = Array.from({ length: SHOWN_DAYS }, (_, index) => {
    const timeMs = end - (SHOWN_DAYS - index) * DAY_MS;
    const rows = data.filter((row) => Date.parse(row.start) === timeMs);
    return { date: calendarDate(timeMs, 'day'), seconds: rows.reduce((sum, row) => sum + row.audio_seconds, 0) };
  });
  if (days.filter(({ seconds }) => seconds > 0).length < 2) return null;
  const total = clockTime(days.reduce((sum, { seconds }) => sum + seconds, 0));
  return (
    <Section
      title={`Audio by day, ${SHOWN_DAYS} days`}
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
          <span>{days[0]!.date}</span> <span>{total} in all</span> <span>{days.at(-1)!.date}</span>
        </p>
      </div>
    </Section>
  );
}
