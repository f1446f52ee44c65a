import { type Command, Option } from 'commander';
import type { LiveParams } from '#sdk/client/index.ts';
import { action, type Io } from '../command.ts';
import { addCaptionOptions, FORMATS } from '../commands/transcription/captions.ts';
import { addRequestOptions, type RequestParams } from '../commands/transcription/request-options.ts';
import { wholeNumber } from '../options.ts';
import { addWebOption } from '../terminal/browser.ts';
import { typed } from '../typed.ts';
import type { LiveFlags } from './transcribe-live.ts';

/** The options of each parameter of jobs that live sessions do not have: a type error names one that is missing. */
const NOT_LIVE: Record<Exclude<keyof RequestParams, keyof LiveParams>, string> = {
  diarize: '--diarize',
  speakers: '--speakers',
  min_speakers: '--min-speakers',
  max_speakers: '--max-speakers',
  multichannel: '--multichannel',
  audio_track: '--audio-track',
  translate_to: '--translate-to',
  webhook_url: '--webhook-url',
  webhook_secret: '--webhook-secret',
};
const examples = (command: string) => `
The words are shown while they are said. Ctrl-C ends the recording; what was said until then is transcribed.

Examples:
  ${command} live
  ${command} live -o srt --out talk.srt --language en
  ${command} live --file call.wav | grep -i invoice
`;

/** `verbatim live` */
export function define(command: Command, io: Io): void {
  addWebOption(command, () => 'live')
    .option('--file <file>', 'a file at its own pace, in place of the microphone')
    .option('--device <name>', 'microphone, as ffmpeg or arecord name it')
    .addOption(new Option('-o, --format <format>', 'of the transcript').choices(FORMATS).default('txt'))
    .option('--out <file>', 'write the transcript to this file at the end')
    .option('--force', 'replace an existing transcript')
    .option('--endpointing <ms>', 'silence that ends a segment, from 100; 0: none does; 600 without it', wholeNumber)
    .option('--max-segment <seconds>', 'longest segment, 5 to 30; 20 without it', wholeNumber);
  addRequestOptions(command, Object.values(NOT_LIVE));
  addCaptionOptions(command)
    .addHelpText('after', examples(typed(io.env)))
    .action(
      action<[], LiveFlags>(io, async (session, flags) => {
        // Loads the client of the API, which the help does not need.
        const { transcribeLive } = await import('./transcribe-live.ts');
        await transcribeLive(session, flags);
      }),
    );
}
