export type Child = Node | string | number | null | undefined | false | Child[];
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => unknown)>;

/**
 * An element. Strings become text nodes, so that text of other people is never parsed as markup.
 * @param attributes  functions are listeners (`onclick`); `true` is an attribute without a value; false and null are left out
 */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value as EventListener);
    else if (value !== null && value !== undefined && value !== false)
      element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...nodesOf(children));
  return element;
}

/** Replaces the children of an element. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren(...nodesOf(children));
}

function nodesOf(children: Child[]): (Node | string)[] {
  return children.flat(9).flatMap((child) => {
    if (child === null || child === undefined || child === false) return [];
    return [child instanceof Node ? child : String(child)];
  });
}

/** A control with a label and a hint. */
export function field(label: string, control: HTMLElement, hint?: string): HTMLElement {
  return h('label', { class: 'field' }, h('span', {}, label), control, hint && h('small', {}, hint));
}

/** @param choices  value and label @param chosen  the selected value; default: the first */
export function select(name: string, choices: [string, string][], chosen = ''): HTMLSelectElement {
  return h(
    'select',
    { name },
    choices.map(([value, label]) => h('option', { value, selected: value === chosen }, label)),
  );
}

/** A time in the user's time zone and language. */
export function time(iso: string | null): Child {
  if (iso === null) return '–';
  const shown = new Date(iso).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
  return h('time', { datetime: iso, title: iso }, shown);
}

/** A state as a coloured word. */
export function badge(word: string): HTMLElement {
  return h('span', { class: `badge ${word}` }, word);
}

/** A list of names and values. */
export function facts(...rows: [string, Child][]): HTMLElement {
  return h(
    'dl',
    {},
    rows.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  );
}

/** A table; the caption is for screen readers. */
export function table(caption: string, heads: string[], rows: Child[][]): HTMLElement {
  const head = h(
    'tr',
    {},
    heads.map((text) => h('th', { scope: 'col' }, text)),
  );
  const cells = (row: Child[]) => row.map((cell, i) => h('td', { 'data-head': heads[i] ?? '' }, cell));
  return h(
    'table',
    {},
    h('caption', { class: 'hidden' }, caption),
    h('thead', {}, head),
    h(
      'tbody',
      {},
      rows.map((row) => h('tr', {}, cells(row))),
    ),
  );
}

/** Shows a message for 6 seconds, which screen readers read out. */
export function say(text: string): void {
  const live = document.querySelector('#live')!;
  live.textContent = text;
  setTimeout(() => live.textContent === text && fill(live), 6_000);
}

export function download(name: string, content: Blob): void {
  const link = h('a', { href: URL.createObjectURL(content), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
