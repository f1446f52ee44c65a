import fs from 'node:fs';
import path from 'node:path';
import type { AudioInput } from '#sdk/client/index.ts';
import { CommandError, EXIT, UsageError } from '../../exit.ts';

/** One audio to transcribe. */
export type Input = {
  /** Shown to the user: a path, or a URL without its query. */
  label: string;
  audio: AudioInput;
  /** False: it can be sent only once. */
  isRepeatable: boolean;
  /** The file for the transcript; null: standard output. */
  target: string | null;
};

export type InputOptions = {
  /** The folder for transcripts. */
  out: string | undefined;
  /** The ending of the transcripts. */
  ending: string;
  /** Replace existing files. */
  force: boolean;
  /** The file name of standard input. */
  name: string;
  stdin: AsyncIterable<Uint8Array>;
  /** Sent to the servers of URLs. */
  urlHeaders: Record<string, string> | undefined;
};

/**
 * The inputs that the arguments name: paths, URLs, and `-` for standard input. Transcripts of inputs that differ in the
 * ending only keep that ending in their names: `a.mp3.srt` and `a.wav.srt`.
 * @throws CommandError  if one cannot be read, or two would be written to the same file
 */
export function resolveInputs(words: readonly string[], options: InputOptions): Input[] {
  if (words.filter((word) => word === '-').length > 1) throw new UsageError('Standard input can be read only once.');
  const named = words.map((word) => resolveInput(word, options));
  const uses = Map.groupBy(named, ({ name }) => targetOf(name, options));
  const inputs = named.map(({ name, ...input }) => {
    const target = targetOf(name, options);
    return { ...input, target: uses.get(target)!.length > 1 ? targetOf(name, options, 'with its ending') : target };
  });
  checkTargets(inputs, options);
  return inputs;
}

function checkTargets(inputs: readonly Input[], { force }: InputOptions): void {
  const targets = new Map<string, string>();
  for (const { label, target } of inputs) {
    if (target === null) continue;
    const other = targets.get(target);
    if (other !== undefined) {
      throw new UsageError(
        `${other} and ${label} would both be written to ${target}: use another --out for one of them.`,
      );
    }
    targets.set(target, label);
    if (!force && fs.existsSync(target)) throw new UsageError(`${target} exists: --force replaces it.`);
  }
}

/** An input, with the file name from which the name of its transcript is made. */
type NamedInput = Omit<Input, 'target'> & { name: string };

function resolveInput(word: string, options: InputOptions): NamedInput {
  if (word === '-') {
    const { name, stdin } = options;
    return { label: name, audio: { stream: stdin, name }, isRepeatable: false, name };
  }
  if (/^https?:\/\//i.test(word)) return resolveUrl(word, options);
  const found = fs.statSync(word, { throwIfNoEntry: false });
  if (!found) throw new CommandError(`There is no file ${word}`, EXIT.notFound);
  if (found.isDirectory()) throw new UsageError(`${word} is a folder: name its files, such as ${path.join(word, '*')}`);
  return { label: word, audio: { path: word }, isRepeatable: true, name: path.basename(word) };
}

function resolveUrl(text: string, options: InputOptions): NamedInput {
  if (!URL.canParse(text)) throw new UsageError(`"${text}" is not a URL.`);
  const { origin, pathname } = new URL(text);
  const headers = options.urlHeaders;
  return {
    // The query may hold a signature.
    label: origin + pathname,
    audio: { url: text, ...(headers && { headers }) },
    isRepeatable: true,
    name: path.posix.basename(pathname).replace(/[^\p{L}\p{N}._ -]/gu, '_'),
  };
}

function targetOf(name: string, { out, ending }: InputOptions, how?: 'with its ending'): string | null {
  if (out === undefined) return null;
  const stem = (how ? name : path.basename(name, path.extname(name))).replace(/^\.+/, '');
  return path.join(out, `${stem || 'audio'}.${ending}`);
}
