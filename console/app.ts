import { session } from './api.ts';
import { problem } from './controls.ts';
import { fill, h } from './dom.ts';
import type { Place } from './format.ts';
import { readPlace, readToken } from './format.ts';
import { showDelivery } from './views/delivery.ts';
import { showEvent, showEvents } from './views/events.ts';
import { showJob } from './views/job.ts';
import { showJobs } from './views/jobs.ts';
import { showAccount, showAccounts } from './views/operator.ts';
import { showSignIn } from './views/sign-in.ts';
import { showUpload } from './views/upload.ts';
import { showWebhook } from './views/webhook.ts';
import { showWebhooks } from './views/webhooks.ts';

/** Fills `main` with the view of a place. `signal` aborts when the user goes to another place. */
export type View = (main: HTMLElement, place: Place, signal: AbortSignal) => Promise<void>;

const VIEWS: Record<string, { list: View; one?: View }> = {
  jobs: { list: showJobs, one: showJob },
  transcribe: { list: showUpload },
  webhooks: {
    list: showWebhooks,
    one: (...given) => (given[1].parts.length > 2 ? showDelivery : showWebhook)(...given),
  },
  events: { list: showEvents, one: showEvent },
  operator: { list: showAccounts, one: showAccount },
  'sign-in': { list: showSignIn },
};
const LINKS = [
  ['jobs', 'Jobs'],
  ['transcribe', 'Transcribe'],
  ['webhooks', 'Webhooks'],
  ['events', 'Events'],
] as const;

let leave = new AbortController();
let shown = '';

addEventListener('hashchange', () => void show());
void show();

/** Signs in with the key of a link, and removes the key from the address and from the history of the browser. */
function openTokenLink(): void {
  const token = readToken(location.hash);
  if (token === null) return;
  session.clear('admin');
  session.set('key', token);
  history.replaceState(null, '', '#/jobs');
}

async function show(): Promise<void> {
  openTokenLink();
  leave.abort();
  leave = new AbortController();
  const { signal } = leave;
  const place = readPlace(location.hash);
  const wanted = place.parts[0] ?? (session.get('key') === null && session.get('admin') !== null ? 'operator' : 'jobs');
  const isAllowed = wanted === 'sign-in' || session.get(wanted === 'operator' ? 'admin' : 'key') !== null;
  const view = isAllowed && Object.hasOwn(VIEWS, wanted) ? wanted : isAllowed ? 'jobs' : 'sign-in';
  showNavigation(view);
  const path = place.parts.join('/');
  // After a change of a filter the keyboard focus returns to the filter.
  const focused = path === shown ? document.activeElement?.getAttribute('name') : null;
  // Filled before it is shown: a late answer must not replace the view of another place.
  const content = h('div', {});
  const { list, one } = VIEWS[view]!;
  const main = document.querySelector<HTMLElement>('#main')!;
  main.setAttribute('aria-busy', 'true');
  await (place.parts.length > 1 && one ? one : list)(content, place, signal).catch((error) => {
    const isSignedOut = error?.status === 401;
    if (isSignedOut) session.clear(view === 'operator' ? 'admin' : 'key');
    fill(
      content,
      problem(error, () => void show()),
    );
  });
  if (signal.aborted) return;
  main.removeAttribute('aria-busy');
  fill(main, content);
  const title = content.querySelector('h1')?.textContent;
  document.title = title ? `${title} · Verbatim` : 'Verbatim';
  const first =
    content.querySelector<HTMLElement>(focused ? `[name="${CSS.escape(focused)}"]` : '[data-first]') ?? main;
  first.focus({ preventScroll: true });
  if (path !== shown) scrollTo(0, 0);
  shown = path;
}

function showNavigation(view: string): void {
  const link = (name: string, label: string) =>
    h('a', { href: `#/${name}`, 'aria-current': name === view && 'page' }, label);
  const isKey = session.get('key') !== null;
  const isAdmin = session.get('admin') !== null;
  fill(
    document.querySelector('#nav')!,
    isKey && LINKS.map(([name, label]) => link(name, label)),
    isAdmin && link('operator', 'Operator'),
    (isKey || isAdmin) && h('button', { type: 'button', class: 'quiet', onclick: signOut }, 'Sign out'),
  );
}

function signOut(): void {
  session.clear('key');
  session.clear('admin');
  if (location.hash === '#/sign-in') void show();
  else location.hash = '#/sign-in';
}
