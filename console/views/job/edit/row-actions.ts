/** What a row can ask for. The same object for all rows, so that rows render again only when they change. */
export type RowActions = {
  seek(seconds: number): void;
  loop(segment: number): void;
  edit(segment: number): void;
  stopEditing(): void;
  type(segment: number, text: string): void;
  restore(segment: number): void;
  resolve(segment: number, choice: 'mine' | 'theirs'): void;
  retry(): void;
};
