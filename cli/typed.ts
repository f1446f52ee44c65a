/**
 * The command as the reader can type it: bin/verbatim sets VERBATIM_COMMAND; the npm package installs `verbatim`.
 * @param words  the words after the command, if any
 */
export function typed(env: NodeJS.ProcessEnv, words = ''): string {
  const command = env['VERBATIM_COMMAND'] || 'verbatim';
  return words ? `${command} ${words}` : command;
}
