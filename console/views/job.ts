import type { Job, JobStreamEvents, Segment } from '../../sdk/src/wire.ts';
import { follow, get, getFile, getText, send } from '../api.ts';
import type { View } from '../app.ts';
import { action, nothing, problem, reload } from '../controls.ts';
import type { Child } from '../dom.ts';
import { badge, download, facts, fill, h, say, time } from '../dom.ts';
import { byteSize, clockTime, credits } from '../format.ts';
import { memberText, prettyJson } from '../json-text.ts';

const FORMATS = { text: 'txt', srt: 'srt', vtt: 'vtt', json: 'json' } as const;

/** One job: its progress while it is open, then its transcript with times. */
export const showJob: View = async (main, { parts }, signal) => {
  const path = `/v1/jobs/${encodeURIComponent(parts[1]!)}`;
  const text = await getText(path);
  const job = JSON.parse(text) as Job;
  const isOpen = job.status === 'queued' || job.status === 'processing';
  const buttons = [
    job.status === 'completed' && downloads(path, job),
    isOpen && action('Cancel', () => send('POST', `${path}/cancel`).then(reload), { confirm: 'Really cancel?' }),
    !isOpen && action('Delete', () => erase(path), { confirm: 'Erase for good?', class: 'danger' }),
  ];
  fill(
    main,
    h('p', { class: 'crumbs' }, h('a', { href: '#/jobs' }, 'Jobs')),
    h('div', { class: 'head' }, h('h1', {}, job.audio.filename || job.id), h('div', { class: 'actions' }, buttons)),
    job.error &&
      h('div', { class: 'notice problem' }, h('p', {}, job.error.message, ' ', h('code', {}, job.error.type))),
    isOpen ? await live(path, job, signal) : job.status === 'completed' && transcript(job),
    metadata(memberText(text, 'metadata')),
    h('section', { class: 'card' }, h('h2', {}, 'Job'), details(job, isOpen)),
  );
};

async function erase(path: string): Promise<void> {
  await send('DELETE', path);
  say('The job was erased.');
  location.hash = '#/jobs';
}

function downloads(path: string, job: Job): Child {
  return Object.entries(FORMATS).map(([format, ending]) =>
    action(`.${ending}`, async () =>
      download(`${job.id}.${ending}`, await getFile(`${path}/transcript?format=${format}`)),
    ),
  );
}

/** Format, length and size; of audio that is not stored yet, where it comes from. */
function audioFacts({ format, duration_seconds: seconds, size_bytes: bytes, source }: Job['audio']): string {
  if (format === null || seconds === null || bytes === null) return source ?? '–';
  return `${format}, ${clockTime(seconds, 1)}, ${byteSize(bytes)}`;
}

function details(job: Job, isOpen: boolean): HTMLElement {
  return facts(
    ['Id', h('code', {}, job.id)],
    ...(isOpen ? [] : [['Status', badge(job.status)] as [string, Child]]),
    ['Plan', job.plan],
    ['Model', job.model ?? '–'],
    ['Language', job.language ?? '–'],
    ['Audio', audioFacts(job.audio)],
    ['Cost', job.cost === null ? '–' : `${credits(job.cost)} credits`],
    ['Created', time(job.created_at)],
    ['Started', time(job.started_at)],
    ['Ended', time(job.completed_at)],
  );
}

function metadata(text: string | null): Child {
  if (text === null || text === 'null') return null;
  return h('section', { class: 'card' }, h('h2', {}, 'Metadata'), h('pre', { tabindex: 0 }, prettyJson(text)));
}

function transcript(job: Job): HTMLElement {
  const segments = job.segments ?? [];
  const hasWords = segments.some(({ words }) => words !== undefined);
  const list = h('ol', { class: 'segments' }, segments.map(showSegment));
  const toggle: HTMLInputElement = h('input', {
    type: 'checkbox',
    onchange: () => list.classList.toggle('word-times', toggle.checked),
  });
  const head = h('h2', {}, 'Transcript');
  return h(
    'section',
    { class: 'card', 'aria-label': 'Transcript' },
    h('div', { class: 'head' }, head, hasWords && h('label', { class: 'check' }, toggle, 'Word times')),
    segments.length === 0 ? nothing('No speech was found.') : list,
  );
}

function showSegment({ start, end, text, confidence, words }: Segment): HTMLElement {
  const said = words?.map((word) => [
    h('span', { class: 'word', 'data-time': clockTime(word.start, 2) }, word.text),
    ' ',
  ]);
  const sure = confidence === null ? '' : `, ${Math.round(confidence * 100)} % sure`;
  const span = `${clockTime(start, 1)} – ${clockTime(end, 1)}`;
  return h(
    'li',
    {},
    h('span', { class: 'span', title: `${span}${sure}` }, span),
    h('p', {}, said?.length ? said : text),
  );
}

/** An open job: state, progress and segments from its event stream. Reloads the page when the job has ended. */
async function live(path: string, job: Job, signal: AbortSignal): Promise<HTMLElement> {
  const state = h('p', { role: 'status' }, badge(job.status));
  const bar = h('progress', { max: 1, value: job.progress, 'aria-label': 'Progress' });
  const list = h('ol', { class: 'segments' });
  const place = h('section', { class: 'card' }, h('div', { class: 'row' }, state, bar), list);
  const handlers = {
    status: ({ status, queue_position }: JobStreamEvents['status']) =>
      fill(state, badge(status), queue_position !== undefined && ` number ${queue_position} in the queue`),
    progress: ({ progress }: JobStreamEvents['progress']) => (bar.value = progress),
    segment: ({ index, ...segment }: JobStreamEvents['segment']) => {
      // A repeated index means that the job was started again.
      while (list.children.length > index) list.lastChild!.remove();
      list.append(showSegment(segment));
    },
  };
  void followToEnd(path, handlers, signal).then(
    () => !signal.aborted && reload(),
    (error) => !signal.aborted && place.append(problem(error, reload)),
  );
  return place;
}

/** Follows the job again when its stream ends before the job: a new stream starts with the current state. */
async function followToEnd(
  path: string,
  handlers: Record<string, (data: never) => void>,
  signal: AbortSignal,
): Promise<void> {
  for await (const { event, data } of follow(`${path}/events`, signal)) handlers[event]?.(JSON.parse(data) as never);
  const { status } = await get<Job>(path);
  if (signal.aborted || (status !== 'queued' && status !== 'processing')) return;
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  await followToEnd(path, handlers, signal);
}
