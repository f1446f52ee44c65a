// What is loaded by `loadParts`, after the first view.
export * from './parts.ts';
