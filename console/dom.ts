export type Child = Node | string | number | null | undefined | false | Child[];
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: never) => unknown)>;

/**
 * An element. Children that are text become text nodes: nothing that a stranger wrote is ever read as markup.
 * @param attributes  functions are listeners (`onclick`), `true` is an attribute without a value, false and null are none
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

/** Puts these in the place of all that is there. */
export function fill(element: Element, ...children: Child[]): void {
  element.replaceChildren(...nodesOf(children));
}

function nodesOf(children: Child[]): (Node | string)[] {
  return children.flat(9).flatMap((child) => {
    if (child === null || child === undefined || child === false) return [];
    return [child instanceof Node ? child : String(child)];
  });
}

/** A control with its label, and a hint below. */
export function field(label: string, control: HTMLElement, hint?: string): HTMLElement {
  return h('label', { class: 'field' }, h('span', {}, label), control, hint && h('small', {}, hint));
}

/** @param choices  value and label; the first is the one chosen unless `chosen` is another's value */
export function select(name: string, choices: [string, string][], chosen = ''): HTMLSelectElement {
  return h(
    'select',
    { name },
    choices.map(([value, label]) => h('option', { value, selected: value === chosen }, label)),
  );
}

/** A time as the reader's clock shows it. */
export function time(iso: string | null): Child {
  if (iso === null) return '–';
  const shown = new Date(iso).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
  return h('time', { datetime: iso, title: iso }, shown);
}

/** A state as a word with a colour; the word alone says all. */
export function badge(word: string): HTMLElement {
  return h('span', { class: `badge ${word}` }, word);
}

/** Names and values, one below the other. */
export function facts(...rows: [string, Child][]): HTMLElement {
  return h(
    'dl',
    {},
    rows.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  );
}

/** A table that scrolls by itself where it is too wide. */
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

/** Says a thing to everybody: shown for a while, and read out. */
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
