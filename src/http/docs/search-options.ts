/** How the browser indexes the sections of the documentation and searches them: options of MiniSearch. */
export const SEARCH_OPTIONS = {
  idField: 'url',
  fields: ['page', 'heading', 'words', 'text'],
  storeFields: ['url', 'page', 'heading', 'text'],
  searchOptions: {
    boost: { page: 3, heading: 4, words: 12 },
    prefix: true,
    fuzzy: 0.15,
    combineWith: 'AND' as const,
  },
};
