import fs from 'node:fs';
import { type Command, InvalidArgumentError } from 'commander';
import { action, type Io, type Session } from '../command.ts';
import { addCaptionOptions, FORMATS, type Format } from '../commands/transcription/captions.ts';
import { addRequestOptions } from '../commands/transcription/request-options.ts';
import { MAX_PARALLEL } from '../commands/transcription/transcribe.ts';
import { CommandError, EXIT, UsageError } from '../exit.ts';
import { commaList, seconds, wholeNumber } from '../options.ts';
import { typed } from '../typed.ts';
import type { WatchFlags } from './watch-folder.ts';

const MIN_INTERVAL_SECONDS = 0.1;
const MAX_INTERVAL_SECONDS = 3_600;
const examples = (command: string) => `
Each audio or video file that has no transcript gets one. docs/watch.md has a unit for systemd.

Examples:
  ${command} watch /srv/recordings -o srt,md
  ${command} watch inbox --out transcripts --diarize
  ${command} watch inbox --once            # for cron
`;

/** `verbatim watch` */
export function define(command: Command, io: Io): void {
  command
    .argument('<folder>', 'where audio and video files arrive')
    .option('-o, --format <formats>', `of the transcripts, separated by commas: ${FORMATS.join(', ')}`, formats, [
      'txt',
    ])
    .option('--out <folder>', 'write the transcripts to the same path below this folder; without it, beside the audio')
    .option('--no-recursive', 'leave subfolders alone')
    .option('--once', 'end when all files are done')
    .option('--interval <time>', 'between two looks at the folder, such as 2s or 1m, from 0.1s', seconds, 10)
    .option('--parallel <number>', 'how many files at once, up to 8', wholeNumber, 3);
  addCaptionOptions(addRequestOptions(command, ['--title']))
    .addHelpText('after', examples(typed(io.env)))
    .action(action<[string], WatchFlags>(io, watch));
}

function formats(text: string): Format[] {
  const names = [...new Set(commaList(text))];
  const unknown = names.find((name) => !(FORMATS as readonly string[]).includes(name));
  if (names.length === 0 || unknown !== undefined) {
    throw new InvalidArgumentError(`It must be one or more of ${FORMATS.join(', ')}.`);
  }
  return names as Format[];
}

async function watch(session: Session, flags: WatchFlags, folder: string): Promise<void> {
  const { parallel, interval } = flags;
  if (parallel < 1 || parallel > MAX_PARALLEL) throw new UsageError(`--parallel must be from 1 to ${MAX_PARALLEL}.`);
  if (interval < MIN_INTERVAL_SECONDS || interval > MAX_INTERVAL_SECONDS) {
    throw new UsageError(`--interval must be from ${MIN_INTERVAL_SECONDS} to ${MAX_INTERVAL_SECONDS} seconds.`);
  }
  if (!fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new CommandError(`There is no folder ${folder}`, EXIT.notFound);
  }
  // Loads the client of the API, which the help does not need.
  const { watchFolder } = await import('./watch-folder.ts');
  await watchFolder(session, flags, folder);
}
