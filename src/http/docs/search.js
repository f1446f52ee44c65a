// Runs in the browser, on the pages of /docs/: the search field of the header. Without it the pages work as well.

const MAX_HITS = 12;
const EXCERPT_CHARACTERS = 140;

const place = document.getElementById('search');
const { base } = place.dataset;
const field = document.createElement('input');
Object.assign(field, { type: 'search', placeholder: 'Search (press /)', autocomplete: 'off' });
field.setAttribute('aria-label', 'Search the documentation');
field.setAttribute('aria-controls', 'hits');
const hits = document.createElement('ol');
hits.id = 'hits';
hits.hidden = true;
const count = document.createElement('p');
count.className = 'hidden';
count.setAttribute('role', 'status');
place.append(field, hits, count);

let loading;

/** Loads the sections at the first use, and indexes them. */
function loadIndex() {
  loading ??= makeIndex().catch((error) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function makeIndex() {
  const [{ default: MiniSearch }, answer] = await Promise.all([
    import(`${base}/minisearch.js`),
    fetch(`${base}/search.json`),
  ]);
  if (!answer.ok) throw new Error(answer.statusText);
  const { options, sections } = await answer.json();
  const index = new MiniSearch(options);
  index.addAll(sections);
  return index;
}

async function search() {
  const query = field.value.trim();
  if (query === '') return show([]);
  try {
    const index = await loadIndex();
    if (query !== field.value.trim()) return;
    show(index.search(query).slice(0, MAX_HITS));
    count.textContent = hits.hidden ? 'Nothing found' : `${hits.childElementCount} found`;
  } catch {
    count.textContent = 'The search could not be loaded.';
  }
}

function show(found) {
  hits.replaceChildren(...found.map(writeHit));
  hits.hidden = found.length === 0;
  if (found.length === 0) count.textContent = '';
}

function writeHit({ url, page, heading, text, terms }) {
  const link = document.createElement('a');
  link.href = url;
  const title = document.createElement('strong');
  title.textContent = heading === '' ? page : `${page} › ${heading}`;
  const excerpt = document.createElement('span');
  excerpt.append(...markTerms(excerptOf(text, terms), terms));
  link.append(title, excerpt);
  const item = document.createElement('li');
  item.append(link);
  return item;
}

function excerptOf(text, terms) {
  const places = terms.map((term) => text.toLowerCase().indexOf(term)).filter((at) => at >= 0);
  const start = Math.max(0, Math.min(...places, text.length) - EXCERPT_CHARACTERS / 3);
  const from = places.length === 0 || start === 0 ? 0 : text.indexOf(' ', start) + 1;
  const part = text.slice(from, from + EXCERPT_CHARACTERS);
  return `${from > 0 ? '… ' : ''}${part}${from + part.length < text.length ? ' …' : ''}`;
}

function markTerms(text, terms) {
  const escaped = terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return text.split(new RegExp(`(${escaped.join('|')})`, 'i')).map((part, index) => {
    if (index % 2 === 0) return part;
    const mark = document.createElement('mark');
    mark.textContent = part;
    return mark;
  });
}

/** The arrow keys go through the hits, Escape closes them, Enter in the field opens the first. */
function moveFocus(event) {
  const links = [...hits.querySelectorAll('a')];
  const at = links.indexOf(document.activeElement);
  if (event.key === 'Escape') {
    field.value = '';
    show([]);
    field.focus();
  } else if (event.key === 'ArrowDown') {
    links[Math.min(at + 1, links.length - 1)]?.focus();
  } else if (event.key === 'ArrowUp') {
    (links[at - 1] ?? field).focus();
  } else if (event.key === 'Enter' && document.activeElement === field) {
    links[0]?.click();
  } else return;
  event.preventDefault();
}

field.addEventListener('input', search);
field.addEventListener('focus', () => loadIndex().catch(() => undefined), { once: true });
place.addEventListener('keydown', moveFocus);
document.addEventListener('click', ({ target }) => {
  if (!place.contains(target)) hits.hidden = true;
});
document.addEventListener('keydown', (event) => {
  const isTyping = event.target.closest('input, textarea, select, [contenteditable]');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  field.focus();
});
