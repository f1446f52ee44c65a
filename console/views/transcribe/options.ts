import type { TranscribeParams } from '#sdk/client/index.ts';
import { listOf } from '../../parts/name-fields.tsx';

/** The fields of the form, by name, as the user wrote them. */
export type OptionValues = Record<string, string>;

const MAX_METADATA_BYTES = 4_096;

/** What the API is asked for. @throws Error  with a sentence about the field at fault */
export function paramsOf(values: OptionValues): TranscribeParams {
  const text = (name: string) => values[name]?.trim() || undefined;
  const number = (name: string) => (text(name) === undefined ? undefined : Number(text(name)));
  const isOn = (name: string) => values[name] === 'on' || undefined;
  const diarize = isOn('diarize');
  const { problem } = checkMetadata(values['metadata'] ?? '');
  if (problem) throw new Error(`Metadata: ${problem}`);
  const list = (name: string) => (text(name) === undefined ? undefined : listOf(text(name)!));
  return withoutUndefined({
    title: text('title'),
    tags: list('tags'),
    plan: text('plan'),
    language: text('language'),
    timestamps: isOn('words') && 'word',
    diarize,
    speakers: diarize && number('speakers'),
    min_speakers: diarize && number('min_speakers'),
    max_speakers: diarize && number('max_speakers'),
    multichannel: isOn('multichannel'),
    audio_track: text('audio_track'),
    translate_to: isOn('translate') && 'en',
    prompt: text('prompt'),
    keywords: list('keywords'),
    replacements: replacementsOf(text('replacements')),
    delete_after_seconds: number('delete_after_seconds'),
    metadataText: text('metadata'),
  }) as TranscribeParams;
}

/** The same as the fields of a form for curl. */
export function formFieldsOf({ metadataText, ...params }: TranscribeParams): [string, string][] {
  const fields = Object.entries(params).flatMap(([name, value]): [string, string][] => {
    if (name === 'keywords' || name === 'tags') return (value as string[]).map((word) => [name, word]);
    return [[name, typeof value === 'object' ? JSON.stringify(value) : String(value)]];
  });
  return [...fields, ...(metadataText ? [['metadata', metadataText] as [string, string]] : []), ['async', 'true']];
}

/** How many bytes the metadata has, and what is wrong with it. */
export function checkMetadata(text: string): { bytes: number; problem: string | null } {
  const trimmed = text.trim();
  const bytes = new TextEncoder().encode(trimmed).length;
  if (trimmed === '') return { bytes: 0, problem: null };
  if (bytes > MAX_METADATA_BYTES) return { bytes, problem: `At most ${MAX_METADATA_BYTES} bytes.` };
  try {
    JSON.parse(trimmed);
    return { bytes, problem: null };
  } catch (error) {
    return { bytes, problem: `That is not JSON: ${(error as Error).message}` };
  }
}

/** A line for each: `cooper netties = Kubernetes`. */
function replacementsOf(text: string | undefined): { from: string; to: string }[] | undefined {
  return text
    ?.split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const at = line.indexOf('=');
      if (at < 1) throw new Error(`Replacements need a line such as “from = to”; this one has no =: ${line}`);
      return { from: line.slice(0, at).trim(), to: line.slice(at + 1).trim() };
    });
}

function withoutUndefined(params: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));
}
