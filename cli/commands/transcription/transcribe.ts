import { type Command, Option } from 'commander';
import { action, type Io, openPage, type Session } from '../../command.ts';
import { UsageError } from '../../exit.ts';
import { readJson, readTextFile, wholeNumber } from '../../options.ts';
import { typed } from '../../typed.ts';
import { addCaptionOptions, type CaptionFlags, FORMATS, type Format, requireTarget } from './captions.ts';
import { type Input, resolveInputs } from './inputs.ts';
import { addRequestOptions, type RequestFlags, requestParams } from './request-options.ts';

type TranscribeFlags = RequestFlags &
  CaptionFlags & {
    format: Format;
    out?: string;
    force?: boolean;
    async?: boolean;
    web?: boolean;
    name: string;
    parallel: number;
    urlHeadersFile?: string;
  };

/** The largest value of `--parallel`. */
export const MAX_PARALLEL = 8;
const examples = (command: string) => `
Examples:
  ${command} transcribe call.mp3 > call.txt
  ${command} transcribe *.m4a -o srt --out subs
  ${command} transcribe https://example.com/talk.mp3 --diarize --json
  ffmpeg -i film.mkv -f wav - | ${command} transcribe - --name film.wav
`;

/** `verbatim transcribe` */
export function define(command: Command, io: Io): void {
  command
    .argument('<inputs...>', 'files, URLs, or - for standard input')
    .addOption(new Option('-o, --format <format>', 'of the transcripts').choices(FORMATS).default('txt'))
    .option('--out <folder>', 'write each transcript to a file in this folder')
    .option('--force', 'replace existing transcripts')
    .option('--async', 'print the ids of the jobs, do not wait for them')
    .option('--web', 'open the jobs in the console, do not wait for them')
    .option('--name <name>', 'file name of standard input', 'stdin')
    .option('--parallel <number>', 'how many inputs at once, up to 8', wholeNumber, 3)
    .option('--url-headers-file <file>', 'headers for the servers of URLs: a JSON object');
  addCaptionOptions(addRequestOptions(command))
    .addHelpText('after', examples(typed(io.env)))
    .action(action<[string[]], TranscribeFlags>(io, transcribe));
}

async function transcribe(session: Session, flags: TranscribeFlags, words: string[]): Promise<void> {
  checkFlags(flags, words.length, session.io.env);
  const { format, out, force = false, name, urlHeadersFile } = flags;
  const urlHeaders =
    urlHeadersFile === undefined
      ? undefined
      : (readJson(readTextFile(urlHeadersFile), urlHeadersFile) as Record<string, string>);
  const stdin = session.io.stdin as unknown as AsyncIterable<Uint8Array>;
  const inputs: Input[] = resolveInputs(words, { out, ending: format, force, name, stdin, urlHeaders });
  // Loads the client of the API, which the help does not need.
  const { transcribeAll } = await import('./transcribe-files.ts');
  const jobs = await transcribeAll(session, inputs, {
    params: requestParams(flags),
    format,
    captions: flags,
    isAsync: flags.async === true || flags.web === true,
    isSilent: flags.web === true,
    parallel: Math.min(flags.parallel, inputs.length),
  });
  if (flags.web) await openPage(session, jobs.length === 1 ? `jobs/${jobs[0]}` : 'jobs');
}

function checkFlags(
  { async: isAsync, web, out, format, parallel }: TranscribeFlags,
  count: number,
  env: NodeJS.ProcessEnv,
): void {
  if (parallel < 1 || parallel > MAX_PARALLEL) throw new UsageError(`--parallel must be from 1 to ${MAX_PARALLEL}.`);
  if ((isAsync || web) && (out !== undefined || format !== 'txt')) {
    throw new UsageError(
      `${web ? '--web' : '--async'} has no transcripts to write: get them later with ${typed(env, 'jobs transcript')}.`,
    );
  }
  requireTarget(format, out);
  const isCaption = format === 'srt' || format === 'vtt';
  if (isCaption && count > 1 && out === undefined) throw new UsageError(`Several ${format} transcripts need --out.`);
}
