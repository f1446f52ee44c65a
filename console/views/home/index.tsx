import { useQuery } from '@tanstack/react-query';
import { type ReactNode, Suspense } from 'react';
import type { Balance, Usage } from '#sdk/wire.ts';
import { api } from '../../api/client.ts';
import { useAccount, useBalance } from '../../api/queries.ts';
import { Bars } from '../../charts/bars.tsx';
import { DropZone } from '../../parts/uploads/drop-zone.tsx';
import { navigate } from '../../router/address.ts';
import { lazyFrom, loadOnce } from '../../router/lazy.tsx';
import { useStore } from '../../session/store.ts';
import { clockTime, credits } from '../../text/format.ts';
import { areLoaded } from '../../ui/aria/load-parts.ts';
import { Credits } from '../../ui/credits.tsx';
import { Facts, Page, Section } from '../../ui/page.tsx';
import { Query } from '../../ui/state.tsx';
import { Alerts } from './alerts.tsx';
import { Days } from './days.tsx';
import { FailingWebhooks } from './failing-webhooks.tsx';
import { FirstSteps } from './first-steps.tsx';
import { RecentJobs } from './recent-jobs.tsx';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
// A mean over this number of days says how long the balance lasts.
const SPENDING_DAYS = 14;
// The last part of the page, and the only one with tabs: it is shown when they were loaded after all else.
const Snippets = lazyFrom(
  loadOnce(() => import('./snippets.tsx')),
  (loaded) => loaded.default,
);
const LOADING = <div aria-busy="true" />;

/** What an account has and does now, and what it should do first. */
export default function Home() {
  const account = useAccount();
  const areTabsLoaded = useStore(areLoaded);
  const can = (scope: string) => account.data?.scopes.some((own) => own === scope) ?? false;
  return (
    <Page title={account.data?.name ?? 'Home'}>
      <Query of={account}>
        {() => (
          <>
            {can('webhooks:read') && <FailingWebhooks />}
            {can('webhooks:read') && <Alerts />}
            {can('jobs:write') && (
              <Section>
                <DropZone onAdded={() => navigate('/transcribe')} />
              </Section>
            )}
            {can('usage:read') && <Figures />}
            {can('jobs:read') && can('jobs:write') && (
              <FirstSteps hasWebhooks={can('webhooks:read') && can('webhooks:write')} />
            )}
            {can('jobs:read') && <RecentJobs />}
            {can('jobs:write') && <Suspense fallback={LOADING}>{areTabsLoaded ? <Snippets /> : LOADING}</Suspense>}
          </>
        )}
      </Query>
    </Page>
  );
}

function Figures() {
  const balance = useBalance();
  const hours = useUsage('hour', DAY_MS);
  const days = useUsage('day', SPENDING_DAYS * DAY_MS);
  return (
    <>
      <Section>
        <Query of={balance}>
          {(value) => (
            <Facts
              rows={[
                ['Balance', <BalanceFigure key="balance" balance={value} days={days.data} />],
                [
                  'Plan',
                  <Figure
                    key="plan"
                    value={value.plan}
                    note={`${credits(value.rates[value.plan])} credits a minute`}
                  />,
                ],
                ['Jobs, 24 h', hours.data && <JobsFigure key="jobs" usage={hours.data} />],
                ['Audio, 24 h', hours.data && <AudioFigure key="audio" usage={hours.data} />],
              ]}
            />
          )}
        </Query>
      </Section>
      {days.data && <Days usage={days.data} />}
    </>
  );
}

function useUsage(bucket: 'hour' | 'day', spanMs: number) {
  return useQuery({
    queryKey: ['usage', 'home', bucket],
    queryFn: ({ signal }) => {
      const now = Date.now();
      const [from, to] = [now - spanMs, now].map((timeMs) => new Date(timeMs).toISOString()) as [string, string];
      return api.usage({ bucket, from, to }, { signal });
    },
  });
}

function Figure({ value, note }: { value: ReactNode; note?: string | undefined }) {
  return (
    <>
      <span className="figure">{value}</span>
      {note && <small> {note}</small>}
    </>
  );
}

function BalanceFigure({ balance, days }: { balance: Balance; days: Usage | undefined }) {
  if (balance.amount === null) return <Figure value="unlimited" />;
  const spent = days?.data.reduce((sum, { cost }) => sum + cost, 0) ?? 0;
  const left = spent > 0 ? Math.floor(balance.amount / (spent / SPENDING_DAYS)) : null;
  const lasts =
    left !== null && left >= 0 && left < 1_000 ? `lasts about ${left} ${left === 1 ? 'day' : 'days'}` : null;
  const held = balance.held > 0 ? `${credits(balance.held)} held` : null;
  return <Figure value={<Credits of={balance.amount} />} note={['credits', held, lasts].filter(Boolean).join(', ')} />;
}

function JobsFigure({ usage }: { usage: Usage }) {
  const hours = perHour(usage);
  const [jobs, failed] = [sum(hours.map(({ jobs }) => jobs)), sum(hours.map(({ failed }) => failed))];
  return (
    <a href="#/usage" className="figure-link">
      <Figure value={String(jobs)} note={failed > 0 ? `${failed} failed` : undefined} />
      {isWorthBars(hours) && (
        <Bars
          label="Ended jobs by hour"
          values={hours.map(({ jobs }) => jobs)}
          bad={hours.map(({ failed }) => failed)}
          titles={hours.map(({ title }) => title)}
        />
      )}
    </a>
  );
}

function AudioFigure({ usage }: { usage: Usage }) {
  const hours = perHour(usage);
  return (
    <>
      <Figure value={clockTime(sum(hours.map(({ seconds }) => seconds)))} />
      {isWorthBars(hours) && (
        <Bars
          label="Minutes of audio by hour"
          values={hours.map(({ seconds }) => Math.round(seconds / 6) / 10)}
          titles={hours.map(({ title }) => title)}
        />
      )}
    </>
  );
}

/** A single bar says no more than its figure. */
function isWorthBars(hours: ReturnType<typeof perHour>): boolean {
  return hours.filter(({ jobs }) => jobs > 0).length > 1;
}

/** Every hour of the usage, oldest first, with those in which no job ended. */
function perHour({ from, to, data }: Usage) {
  const start = Date.parse(from);
  const count = Math.round((Date.parse(to) - start) / HOUR_MS);
  return Array.from({ length: count }, (_, index) => {
    const timeMs = start + index * HOUR_MS;
    const row = data.find((other) => Date.parse(other.start) === timeMs);
    const title = new Date(timeMs).toLocaleTimeString('en-GB', { timeStyle: 'short' });
    return { title, jobs: row?.jobs ?? 0, failed: row?.failed ?? 0, seconds: row?.audio_seconds ?? 0 };
  });
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
