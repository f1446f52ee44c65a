import type { Session } from './command.ts';

/**
 * Changes what each id names, one after the other, and shows the id, or with text what was done. For requests that the
 * API answers without a body.
 * @param done  what is said of an id then, such as `is deleted`
 */
export async function changeEach(
  { out }: Session,
  ids: readonly string[],
  done: string,
  change: (id: string) => Promise<void>,
): Promise<void> {
  for (const id of ids) {
    await change(id);
    if (out.mode === 'ids') out.line(id);
    else out.note(`${id} ${done}`);
  }
}
