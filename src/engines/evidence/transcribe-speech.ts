import type { Semaphore } from '../../platform/semaphore.ts';
import { clipTo, hullOf, type Interval, totalSeconds } from '../../rules/transcript/intervals.ts';
import { countPhrase, findRepetitions, mayRepeat, repeatedPhrase } from '../../rules/transcript/repetitions.ts';
import { judgeAmount, spokenLetters } from '../../rules/transcript/text-amount.ts';
import type { Gap } from '../../rules/words/gaps.ts';
import { type Engine, EngineError, type Pcm, SAMPLE_RATE, type TranscribeOptions, type Transcript } from '../engine.ts';
import { sanitiseTranscript } from '../sanitised-transcript.ts';
import { findLoudParts } from './energy-speech.ts';
import { fillGap, gapsOf, isMostOf, reportGaps, speechOf } from './gaps.ts';
import { type Heard, joinHeard, placeHeard, textOf } from './heard.ts';
import { joinMarks } from './join-marks.ts';
import { joinOverlap } from './join-overlaps.ts';
import { keepOnce } from './keep-once.ts';
import { leaveOutInvented } from './leave-out-invented.ts';
import { halvesOf, lengthOf, type Part, partAround, phrasesOf } from './parts.ts';
import { isPureTone } from './pure-tone.ts';

/** The parts of an engine that transcribe a piece. */
export type SpeechEngine = Pick<Engine, 'transcribe' | 'features' | 'maxPieceSeconds' | 'isCalibrated' | 'gaveNoWords'>;

export type HearingOptions = TranscribeOptions & {
  /** Limits the calls of the engine under way; absent: only the engine does. */
  semaphore?: Semaphore;
};

/** The longest phrase, where an engine gives no times: captions of more are hard to read. */
const PHRASE_MAX_SECONDS = 9;
/** Shorter detected speech is a breath, a click or a door. */
const SPEECH_MIN_SECONDS = 0.3;
/** Louder parts that are shorter are knocks. */
const LOUD_MIN_SECONDS = 1.5;
/** A second try replaces a short text only with clearly more. */
const CLEARLY_MORE = 1.2;
/** A gap, what is left in it, and in that. */
const GAP_ROUNDS = 3;

/** Engines that gave long audio one segment without times, though their API has times. */
const WITHOUT_TIMES = new WeakSet<SpeechEngine>();

/**
 * Transcribes a piece of audio, and compares the text with the speech that was detected in it. Audio without speech
 * reaches no engine. Where the engine gives no text for speech, far too little, or text in a loop, the audio is
 * transcribed again in two halves, down to about 2 s. After errors of the engine, less text is too little. An engine
 * without times transcribes phrase by phrase. Speech in which an engine with times has no word for 2 s is transcribed
 * again by itself, and what is left without a word is untranscribed. Segments that the model invented are left out.
 * @param speech   the detected speech in seconds from the start of the piece, sorted; null without a voice detector:
 *                 louder parts then take its place, and nothing is reported as untranscribed
 * @param options  of each call of the engine
 * @throws EngineError
 */
export async function transcribeSpeech(
  engine: SpeechEngine,
  piece: Pcm,
  speech: readonly Interval[] | null,
  options: HearingOptions,
): Promise<Heard> {
  const hearing = new Hearing(engine, options);
  if (isPureTone(piece)) return await hearing.hearTone(piece);
  if (speech !== null && totalSeconds(speech) < SPEECH_MIN_SECONDS) return hearing.nothing();
  const whole = {
    startSeconds: 0,
    piece,
    speech: speech === null ? findLoudParts(piece) : [...speech],
    isCertain: speech !== null,
    overlapsNext: false,
  };
  const heard = leaveOutInvented(whole, await hearing.hear(whole));
  const isWordless = heard.transcript.segments.length === 0 && heard.untranscribed.length > 0;
  if (isWordless) await engine.gaveNoWords?.(options.signal);
  return heard;
}

/**
 * Whether a piece of audio may hold speech for an engine: of other audio its text is invented.
 * @param speech  as for `transcribeSpeech`
 */
export function mayBeSpoken(
  engine: Pick<Engine, 'isCalibrated'>,
  piece: Pcm,
  speech: readonly Interval[] | null,
): boolean {
  if (isPureTone(piece)) return !engine.isCalibrated;
  return speech === null || totalSeconds(speech) >= SPEECH_MIN_SECONDS;
}

class Hearing {
  readonly #engine: SpeechEngine;
  readonly #options: HearingOptions;

  constructor(engine: SpeechEngine, options: HearingOptions) {
    this.#engine = engine;
    this.#options = options;
  }

  nothing(): Heard {
    return { transcript: { segments: [], language: this.#options.language }, untranscribed: [], repetitions: [] };
  }

  /**
   * Test signals of integrators are pure tones, and a model of tones belongs to a test: they get their answer. A model
   * that has shown that it knows speech is not given the tones of a telephone.
   */
  async hearTone(piece: Pcm): Promise<Heard> {
    if (this.#engine.isCalibrated) return this.nothing();
    const transcript = await this.#call(piece).catch(nullWhereProcessesDied);
    const whole = { startSeconds: 0, endSeconds: piece.length / SAMPLE_RATE };
    return transcript === null ? { ...this.nothing(), untranscribed: [whole] } : { ...this.nothing(), transcript };
  }

  async hear(whole: Part): Promise<Heard> {
    if (!this.#givesTimes()) return await this.#hearPhrases(whole, '');
    const heard = await this.#hearWithTimes(whole, '');
    if (this.#givesTimes()) return await this.#fillGaps(whole, heard);
    const text = textOf(heard.transcript);
    const again = await this.#hearPhrases(whole, text);
    return saysAgain(again.transcript, text) ? heard : again;
  }

  async #hearWithTimes(part: Part, textOfWhole: string): Promise<Heard> {
    const { maxPieceSeconds = Number.POSITIVE_INFINITY } = this.#engine;
    return lengthOf(part) <= maxPieceSeconds
      ? await this.#hearPart(part, textOfWhole)
      : await this.#hearParts(phrasesOf(part, maxPieceSeconds), textOfWhole);
  }

  /** A gap that is left in a gap is transcribed again where it is clearly shorter. What is left at last is reported. */
  async #fillGaps(whole: Part, heard: Heard): Promise<Heard> {
    const tried: Gap[] = [];
    let filled = heard;
    for (let round = 0; round < GAP_ROUNDS; round += 1) {
      const gaps = gapsOf(filled, whole).filter((gap) => !tried.some((other) => isMostOf(gap, other)));
      if (gaps.length === 0) break;
      tried.push(...gaps);
      filled = await this.#hearGaps(whole, gaps, filled);
    }
    return reportGaps(filled, whole);
  }

  async #hearGaps(whole: Part, gaps: Gap[], heard: Heard): Promise<Heard> {
    const text = textOf(heard.transcript);
    const again = await Promise.all(
      gaps.map(async (gap) => {
        const part = partAround(whole, speechOf(gap, whole));
        return placeHeard(part.startSeconds, await this.#hearWithTimes(part, text));
      }),
    );
    // From the last gap on: the words before it keep their numbers.
    return gaps.reduceRight(
      (filled, gap, at) =>
        saysAgain(again[at]!.transcript, text) ? filled : fillGap(filled, gap, again[at]!, this.#options.translateTo),
      heard,
    );
  }

  #givesTimes(): boolean {
    return this.#engine.features?.includes('words') === true && !WITHOUT_TIMES.has(this.#engine);
  }

  async #hearPhrases(whole: Part, textOfWhole: string): Promise<Heard> {
    const { maxPieceSeconds = PHRASE_MAX_SECONDS } = this.#engine;
    return await this.#hearParts(phrasesOf(whole, Math.min(PHRASE_MAX_SECONDS, maxPieceSeconds)), textOfWhole);
  }

  async #hearParts(parts: Part[], textOfWhole: string): Promise<Heard> {
    return this.#join(parts, await this.#hearEach(parts, textOfWhole));
  }

  /** The parts side by side: the engine and the semaphore bound the calls that run. */
  async #hearEach(parts: Part[], textOfWhole: string): Promise<Heard[]> {
    return await Promise.all(
      parts.map(async (part) => placeHeard(part.startSeconds, await this.#hearPart(part, textOfWhole))),
    );
  }

  #join(parts: Part[], separate: Heard[]): Heard {
    const sides = { textLanguage: this.#options.translateTo };
    const heard = [...separate];
    for (const [index, part] of parts.entries()) {
      const last = heard.findLastIndex(({ transcript }, at) => at < index && transcript.segments.length > 0);
      const before = parts[last];
      if (before === undefined) continue;
      const cut = (before.startSeconds + lengthOf(before) + part.startSeconds) / 2;
      [heard[last], heard[index]] =
        last === index - 1 && before.overlapsNext
          ? joinOverlap(heard[last]!, heard[index]!, cut, sides)
          : joinMarks(heard[last]!, heard[index]!, sides);
    }
    return joinHeard(heard, this.#options.language);
  }

  /** @param textOfWhole  what the engine gave for the audio that this is a half of */
  async #hearPart(part: Part, textOfWhole: string): Promise<Heard> {
    if (part.isCertain && part.speech.length === 0) return this.nothing();
    // The detector may take the start of a telephone's tone for speech.
    if (this.#engine.isCalibrated && isPureTone(part.piece)) return this.nothing();
    const transcript = await this.#transcribe(part).catch(nullWhereProcessesDied);
    if (transcript === null) return { ...this.nothing(), untranscribed: [hullOf(part.speech) ?? wholeOf(part)] };
    const text = textOf(transcript);
    const isRepeated = mayRepeat(text);
    const { hasErrors = false } = transcript;
    const speechSeconds = totalSeconds(part.speech);
    const amount = judgeAmount(text, { speechSeconds, audioSeconds: lengthOf(part), hasErrors });
    // An engine that says the same of all audio gives no more with more calls.
    const isKnown = text !== '' && isSame(text, textOfWhole);
    const isDoubtful = isRepeated || (amount === 'none' ? hasErrors || isSpoken(part) : amount !== 'enough');
    const halves = isDoubtful && !isKnown ? halvesOf(part) : [];
    if (halves.length === 0) return settle(part, transcript, { isEmpty: amount === 'none' });
    const heard = await this.#hearEach(halves, text);
    const again = this.#join(halves, heard);
    if (isRepeated) return settleRepeated(part, transcript, heard) ?? again;
    return amount === 'little' && !isClearlyMore(again.transcript, text)
      ? { ...settle(part, transcript), untranscribed: again.untranscribed }
      : again;
  }

  async #transcribe({ piece, speech }: Part): Promise<Transcript> {
    const transcript = await this.#call(piece);
    const seconds = piece.length / SAMPLE_RATE;
    const [only, ...others] = transcript.segments;
    const isWithoutTimes =
      only?.words.length === 0 && others.length === 0 && only.startSeconds === 0 && only.endSeconds === seconds;
    if (!isWithoutTimes) return transcript;
    if (seconds > PHRASE_MAX_SECONDS) WITHOUT_TIMES.add(this.#engine);
    return { ...transcript, segments: [{ ...only, ...hullOf(speech) }] };
  }

  async #call(piece: Pcm): Promise<Transcript> {
    const { semaphore, ...options } = this.#options;
    const call = () => this.#engine.transcribe(piece, options);
    const given = await (semaphore ? semaphore(call, options.signal) : call());
    const transcript = sanitiseTranscript(given, piece.length / SAMPLE_RATE);
    // Models write notes for music, and full stops for noise.
    return { ...transcript, segments: transcript.segments.filter(({ text }) => spokenLetters(text) > 0) };
  }
}

/** Audio that ended three processes of the engine is not given to more of them; the rest of the piece is. */
function nullWhereProcessesDied(cause: unknown): null {
  if (cause instanceof EngineError && cause.failure.kind === 'died') return null;
  throw cause;
}

function wholeOf(part: Part): Interval {
  return { startSeconds: 0, endSeconds: lengthOf(part) };
}

function isSpoken({ speech, isCertain }: Part): boolean {
  return totalSeconds(speech) >= (isCertain ? SPEECH_MIN_SECONDS : LOUD_MIN_SECONDS);
}

/**
 * What is kept of a text that repeats itself; null where that of its halves is better. A speaker who repeats a phrase
 * has a share of the repetitions in each half; a model in a loop has as many in each.
 */
function settleRepeated(part: Part, given: Transcript, halves: Heard[]): Heard | null {
  const text = textOf(given);
  if (halves.every(({ repetitions }) => repetitions.length > 0)) return settle(part, given, { isLoop: true });
  const repeated = repeatedPhrase(text);
  if (repeated === null) return null;
  const { phrase, times } = repeated;
  const timesAgain = halves.reduce((sum, { transcript }) => sum + countPhrase(phrase, textOf(transcript)), 0);
  if (timesAgain > times + 1) return settle(part, given, { isLoop: true });
  return findRepetitions(text).length === 0 && timesAgain >= times - 1 ? settle(part, given) : null;
}

/** What is kept of a part that is not transcribed again. */
function settle(part: Part, given: Transcript, { isEmpty = false, isLoop = false } = {}): Heard {
  const isUntranscribed = isEmpty && part.isCertain && isSpoken(part);
  const { transcript, repetitions } = keepOnce(given, isLoop);
  const segments = transcript.segments.map((segment) => ({ ...segment, ...noSpeechOf(segment, part) }));
  return {
    transcript: { ...transcript, segments },
    repetitions,
    untranscribed: isUntranscribed ? [hullOf(part.speech)!] : [],
  };
}

function noSpeechOf(segment: Interval, { speech, isCertain }: Part): { noSpeechShare?: number } {
  const seconds = totalSeconds([segment]);
  if (!isCertain || seconds === 0) return {};
  return { noSpeechShare: 1 - totalSeconds(clipTo(segment, speech)) / seconds };
}

function isClearlyMore(again: Transcript, text: string): boolean {
  return !saysAgain(again, text) && spokenLetters(textOf(again)) > CLEARLY_MORE * spokenLetters(text);
}

/** Whether an engine gave for parts of the audio only what it gave for all of it: it says the same of any audio. */
function saysAgain({ segments }: Transcript, text: string): boolean {
  return segments.length > 0 && segments.every((segment) => isSame(segment.text, text));
}

/** Marks and capitals at a cut may have been changed. */
function isSame(one: string, other: string): boolean {
  const [key, otherKey] = [one, other].map((text) => text.toLowerCase().replace(/[^\p{L}\p{M}\p{N}]/gu, ''));
  return key === otherKey;
}
