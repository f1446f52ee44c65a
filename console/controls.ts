import { ApiProblem } from './api.ts';
import type { Child } from './dom.ts';
import { h, say } from './dom.ts';
import { withQuery } from './format.ts';

const CONFIRM_WITHIN_MS = 5_000;

/** An error message with a button to try again, which is disabled for the `retry_after` of a 429. */
export function problem(error: unknown, again?: () => void): HTMLElement {
  const isKnown = error instanceof ApiProblem;
  if (!isKnown) console.error(error);
  const wait = isKnown ? error.retryAfterSeconds : null;
  const words =
    wait === null ? (isKnown ? error.message : 'The console failed; load the page again.') : pauseWords(wait);
  const button = again && h('button', { type: 'button', onclick: again }, 'Try again');
  if (button && wait !== null) countDown(button, wait);
  return h('div', { class: 'notice problem', role: 'alert' }, h('p', {}, words), button);
}

function pauseWords(seconds: number): string {
  return `That was a little fast: the service allows only so many requests a minute. It takes the next one in ${seconds} s.`;
}

function countDown(button: HTMLButtonElement, seconds: number): void {
  button.disabled = seconds > 0;
  button.textContent = seconds > 0 ? `Try again in ${seconds} s` : 'Try again';
  if (seconds > 0) setTimeout(() => countDown(button, seconds - 1), 1_000);
}

/**
 * A button for a request: disabled while the request runs, and followed by its error.
 * @param options.confirm  a second click is needed, on a button with this text: for what cannot be undone
 */
export function action(label: string, act: () => Promise<unknown>, options: { confirm?: string; class?: string } = {}) {
  const place = h('span', { class: 'action' });
  let isArmed = options.confirm === undefined;
  const button = h('button', { type: 'button', class: options.class ?? '' }, label);
  button.addEventListener('click', async () => {
    if (!isArmed) {
      isArmed = true;
      button.textContent = options.confirm!;
      setTimeout(() => {
        isArmed = false;
        button.textContent = label;
      }, CONFIRM_WITHIN_MS);
      return;
    }
    await whileBusy(button, place, act);
  });
  place.append(button);
  return place;
}

/** A form that calls `submit` with its fields, and shows an error of `submit` beside its button. */
export function form(
  label: string,
  fields: Child[],
  submitLabel: string,
  submit: (fields: FormData) => Promise<unknown>,
) {
  const button = h('button', { class: 'primary' }, submitLabel);
  const place = h('div', { class: 'actions' }, button);
  const element = h('form', { 'aria-label': label }, fields, place);
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    void whileBusy(button, place, () => submit(new FormData(element)));
  });
  return element;
}

async function whileBusy(button: HTMLButtonElement, place: HTMLElement, act: () => Promise<unknown>): Promise<void> {
  place.querySelector('.problem')?.remove();
  button.disabled = true;
  try {
    await act();
  } catch (error) {
    place.append(problem(error));
  } finally {
    button.disabled = false;
  }
}

/** A secret that is shown only once, with a button that copies it. */
export function secretBox(title: string, secret: string, hint: string): HTMLElement {
  const text = h('code', { class: 'secret', tabindex: 0 }, secret);
  const copy = h('button', { type: 'button', onclick: () => copyText(text) }, 'Copy');
  const lines = [h('h3', {}, title), h('div', { class: 'row' }, text, copy), h('p', {}, hint)];
  return h('section', { class: 'notice once', 'aria-label': title }, lines);
}

/** Browsers have a clipboard only with https and on localhost; elsewhere the text is selected, to be copied by hand. */
async function copyText(element: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(element.textContent ?? '');
    say('Copied.');
  } catch {
    getSelection()?.selectAllChildren(element);
    say('Marked; copy it with Ctrl-C.');
  }
}

/** Links to the pages of a list. Each page has its own URL, so that the Back button works. */
export function pager(path: string, query: Record<string, string>, nextCursor: string | null): Child {
  const link = (label: string, cursor: string) =>
    h('a', { class: 'button', href: withQuery(path, { ...query, cursor }) }, label);
  return h(
    'p',
    { class: 'pager' },
    query['cursor'] && link('Newest', ''),
    nextCursor !== null && link('Older', nextCursor),
  );
}

/** A select that changes a filter in the page's URL. */
export function filter(
  label: string,
  name: string,
  words: readonly string[],
  path: string,
  query: Record<string, string>,
) {
  const { cursor: _, ...kept } = query;
  const options = ['', ...words].map((word) =>
    h('option', { value: word, selected: word === (query[name] ?? '') }, word || 'all'),
  );
  const go = (): unknown => (location.hash = withQuery(path, { ...kept, [name]: control.value }));
  const control: HTMLSelectElement = h('select', { name, onchange: go }, options);
  return h('label', { class: 'filter' }, h('span', {}, label), control);
}

/** Shows the current page again, with new requests. */
export function reload(): void {
  dispatchEvent(new HashChangeEvent('hashchange'));
}

/** Text in place of an empty list. */
export function nothing(...words: Child[]): HTMLElement {
  return h('p', { class: 'nothing' }, words);
}
