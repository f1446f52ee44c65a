import type { Balance, Job, Page } from '../../sdk/src/wire.ts';
import { get } from '../api.ts';
import type { View } from '../app.ts';
import { filter, nothing, pager, problem, reload } from '../controls.ts';
import type { Child } from '../dom.ts';
import { badge, facts, fill, h, table, time } from '../dom.ts';
import { clockTime, credits, withQuery } from '../format.ts';

const STATES = ['queued', 'processing', 'completed', 'failed', 'canceled'];

/** The balance and the account's jobs, newest first. */
export const showJobs: View = async (main, { query }) => {
  const [balance, jobs] = await Promise.all([
    get<Balance>('/v1/balance').then(showBalance, (error) => problem(error)),
    get<Page<Job>>(withQuery('/v1/jobs', query)),
  ]);
  const tools = [
    filter('Status', 'status', STATES, '#/jobs', query),
    h('button', { type: 'button', onclick: reload }, 'Refresh'),
    h('a', { class: 'button primary', href: '#/transcribe' }, 'Transcribe a file'),
  ];
  fill(
    main,
    h('div', { class: 'head' }, h('h1', {}, 'Jobs'), h('div', { class: 'actions' }, tools)),
    balance,
    listOf(jobs, query),
  );
};

function showBalance(balance: Balance): HTMLElement {
  return h(
    'section',
    { class: 'card figures', 'aria-label': 'Balance' },
    facts(
      ['Balance', balance.amount === null ? 'unlimited' : `${credits(balance.amount)} credits`],
      ['Set aside for open jobs', `${credits(balance.held)} credits`],
      ['Plan', balance.plan],
      ['A minute costs', `${credits(balance.rates.lite)} on lite, ${credits(balance.rates.pro)} on pro`],
    ),
  );
}

function listOf(jobs: Page<Job>, query: Record<string, string>): Child {
  if (jobs.data.length === 0)
    return nothing('No jobs here. ', h('a', { href: '#/transcribe' }, 'Transcribe a file'), '.');
  const rows = jobs.data.map((job) => [
    h('a', { href: `#/jobs/${job.id}` }, job.audio.filename || job.id),
    badge(job.status),
    (job.error || job.text) && h('span', { class: 'snippet' }, job.error?.message ?? job.text?.slice(0, 200)),
    job.audio.duration_seconds === null ? '–' : clockTime(job.audio.duration_seconds),
    job.cost === null ? '–' : credits(job.cost),
    time(job.created_at),
  ]);
  const heads = ['File', 'Status', 'Text', 'Length', 'Cost', 'Created'];
  return [table('Jobs', heads, rows), pager('#/jobs', query, jobs.next_cursor)];
}
