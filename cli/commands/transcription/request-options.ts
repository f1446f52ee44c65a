import { type Command, InvalidArgumentError, Option } from 'commander';
import type { TranscribeParams } from '#sdk/client/index.ts';
import { UsageError } from '../../exit.ts';
import { readJson, readTextFile, repeated, wholeNumber } from '../../options.ts';

/** The options of `verbatim transcribe` that go to the API. */
export type RequestFlags = {
  plan?: 'lite' | 'pro';
  language?: string;
  words?: boolean;
  diarize?: boolean;
  speakers?: number;
  minSpeakers?: number;
  maxSpeakers?: number;
  multichannel?: boolean;
  audioTrack?: string;
  translateTo?: 'en';
  prompt?: string;
  keyword?: string[];
  replace?: { from: string; to: string }[];
  title?: string;
  tag?: string[];
  metadata?: string;
  metadataFile?: string;
  deleteAfter?: number;
  webhookUrl?: string;
  webhookSecret?: string;
};

/** Adds the options that go to the API. @param leftOut  long names of those that the command does not have */
export function addRequestOptions(command: Command, leftOut: readonly string[] = []): Command {
  const option = (flags: string, help: string) => new Option(flags, help).helpGroup('Transcription:');
  const options = [
    option('--plan <plan>', "the plan; without it, the account's").choices(['lite', 'pro']),
    option('--language <code>', 'spoken language, such as en; without it, detected where the model can'),
    option('--words', 'times of words'),
    option('--diarize', 'label who speaks'),
    option('--speakers <number>', 'the exact number of speakers, with --diarize').argParser(wholeNumber),
    option('--min-speakers <number>', 'the smallest number of speakers').argParser(wholeNumber),
    option('--max-speakers <number>', 'the largest number of speakers').argParser(wholeNumber),
    option('--multichannel', 'each channel on its own'),
    option('--audio-track <track>', 'an index from 0, or a language'),
    option('--translate-to <language>', 'language of the text').choices(['en']),
    option('--prompt <text>', 'context for the engine'),
    option('--keyword <word>', 'a word that the engine should know; repeatable').argParser(repeated),
    option('--replace <from=to>', 'a phrase of the text to replace; repeatable').argParser(replacement),
    option('--title <text>', 'a name of your own for the job'),
    option('--tag <tag>', 'a word of your own, by which jobs are listed; repeatable').argParser(repeated),
    option('--metadata <json>', 'comes back with the job and in its events').argParser(jsonText),
    option('--metadata-file <file>', 'the same from a file').conflicts('metadata'),
    option('--delete-after <seconds>', 'erase the job this long after its end').argParser(wholeNumber),
    option('--webhook-url <url>', 'where the events of this job go too'),
    option('--webhook-secret <secret>', 'signs them; without it, the service makes one that it does not show'),
  ];
  for (const each of options) if (!leftOut.includes(each.long!)) command.addOption(each);
  return command;
}

/** The parameters that `requestParams` may give. */
export type RequestParams = ReturnType<typeof requestParams>;

/** The fields of the request. */
export function requestParams(flags: RequestFlags) {
  return {
    plan: flags.plan,
    language: flags.language,
    timestamps: flags.words ? 'word' : undefined,
    diarize: flags.diarize,
    speakers: flags.speakers,
    min_speakers: flags.minSpeakers,
    max_speakers: flags.maxSpeakers,
    multichannel: flags.multichannel,
    audio_track: readTrack(flags.audioTrack),
    translate_to: flags.translateTo,
    prompt: flags.prompt,
    keywords: flags.keyword,
    replacements: flags.replace,
    title: flags.title,
    tags: flags.tag,
    metadataText: readMetadata(flags),
    delete_after_seconds: flags.deleteAfter,
    webhook_url: flags.webhookUrl,
    webhook_secret: flags.webhookSecret,
  } satisfies TranscribeParams;
}

function readTrack(text: string | undefined): number | string | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : text;
}

function readMetadata({ metadata, metadataFile }: RequestFlags): string | undefined {
  if (metadataFile === undefined) return metadata;
  const text = readTextFile(metadataFile).trim();
  readJson(text, metadataFile);
  return text;
}

/** An option's or argument's value, checked to be JSON. */
export function jsonText(text: string): string {
  try {
    readJson(text, 'It');
  } catch (error) {
    throw error instanceof UsageError ? new InvalidArgumentError(error.message) : error;
  }
  return text;
}

function replacement(text: string, before: { from: string; to: string }[] = []): { from: string; to: string }[] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must have the form from=to.');
  return [...before, { from: text.slice(0, at), to: text.slice(at + 1) }];
}
