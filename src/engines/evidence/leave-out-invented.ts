import { framePower } from '../../rules/live/live-segments.ts';
import { type Interval, totalSeconds } from '../../rules/transcript/intervals.ts';
import { findInvented } from '../../rules/words/invented.ts';
import { type Pcm, SAMPLE_RATE } from '../engine.ts';
import { SILENCE_MAX_AMPLITUDE } from '../silence.ts';
import type { Heard } from './heard.ts';
import type { Part } from './parts.ts';

const FRAME = SAMPLE_RATE / 100;
/** The power of the loudest tenth of the frames over that of the quietest: of noise 1.2, of quiet speech 300. */
const SOUND_MIN_RATIO = 6;

/** What was heard without the segments that the model invented: their times are those of repetitions. */
export function leaveOutInvented({ piece, speech }: Part, heard: Heard): Heard {
  const { segments } = heard.transcript;
  // The detector misses quiet speech beside loud speech.
  const isSilent = (segment: (typeof segments)[number]) => segment.noSpeechShare === 1 && isSteady(piece, segment);
  const judged = segments.map((segment) => ({ ...segment, isSilent: isSilent(segment) }));
  const isInvented = findInvented(judged, totalSeconds(speech));
  const found = segments.filter((_, at) => isInvented[at]);
  if (found.length === 0) return heard;
  const times = found.map(({ startSeconds, endSeconds }) => ({ startSeconds, endSeconds }));
  return {
    ...heard,
    transcript: { ...heard.transcript, segments: segments.filter((_, at) => !isInvented[at]) },
    repetitions: [...heard.repetitions, ...times].toSorted((one, other) => one.startSeconds - other.startSeconds),
  };
}

/** Whether a part of the audio is silence or noise that does not change, as speech does. */
function isSteady(piece: Pcm, { startSeconds, endSeconds }: Interval): boolean {
  const samples = piece.subarray(Math.round(startSeconds * SAMPLE_RATE), Math.round(endSeconds * SAMPLE_RATE));
  if (samples.every((sample) => Math.abs(sample) < SILENCE_MAX_AMPLITUDE)) return true;
  const powers = Array.from({ length: Math.floor(samples.length / FRAME) }, (_, frame) =>
    framePower(samples.subarray(frame * FRAME, (frame + 1) * FRAME)),
  ).sort((one, other) => one - other);
  const [quiet, loud] = [0.1, 0.9].map((share) => powers[Math.floor(share * (powers.length - 1))] ?? 0);
  return loud! <= SOUND_MIN_RATIO * quiet!;
}
