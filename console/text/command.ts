/**
 * The command that this reader can type, which the service writes into the page:
 * verbatim, or a path such as bin/verbatim.
 */
const COMMAND = document.querySelector<HTMLMetaElement>('meta[name="command"]')!.content;

/** A command line. @param words  after the command */
export function typed(words: string): string {
  return `${COMMAND} ${words}`;
}
