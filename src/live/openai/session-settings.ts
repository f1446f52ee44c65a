import { ApiError } from '../../http/api-error.ts';
import { type JobRequest, readJobRequest } from '../../jobs/api/request.ts';
import type { LiveOptions } from '../../jobs/live/live-store.ts';
import { PLANS, type Plan } from '../../rules/accounts/plan.ts';
import type { LiveEncoding, LiveSampleRate } from '../../rules/live/encoding.ts';

/** The part of a transcription session of OpenAI's Realtime API that has a meaning here. */
export type RealtimeSettings = {
  format: { encoding: LiveEncoding; sampleRate: LiveSampleRate };
  model: string | null;
  language: string | null;
  prompt: string | null;
  keywords: string[];
  /** Silence that ends a segment; null: the client commits. */
  silenceMs: number | null;
  turnDetection: object | null;
};

/** A value that cannot be served, for the `error` event. */
export class SettingsError extends Error {
  readonly param: string;
  constructor(param: string, message: string) {
    super(message);
    this.param = param;
  }
}

const DEFAULT_SILENCE_MS = 500;
const SILENCE = { min: 100, max: 5_000 };
// Of semantic detection, by how eager it is to end a turn.
const EAGERNESS_MS: Record<string, number> = { low: 1_000, medium: 700, high: 400, auto: 700 };
// The client ends segments by a commit. A segment that it does not end is cut after this time.
const COMMIT_MAX_SECONDS = 30;
const VAD_MAX_SECONDS = 20;
const OLD_FORMATS: Record<string, object> = {
  pcm16: { type: 'audio/pcm', rate: 24_000 },
  g711_ulaw: { type: 'audio/pcmu' },
  g711_alaw: { type: 'audio/pcma' },
};
const PCM_RATES: readonly number[] = [8_000, 16_000, 24_000];
const MAX_MODEL_CHARS = 200;

export const INITIAL_SETTINGS: RealtimeSettings = {
  format: { encoding: 'pcm_s16le', sampleRate: 24_000 },
  model: null,
  language: null,
  prompt: null,
  keywords: [],
  silenceMs: DEFAULT_SILENCE_MS,
  turnDetection: {
    type: 'server_vad',
    threshold: 0.5,
    prefix_padding_ms: 300,
    silence_duration_ms: DEFAULT_SILENCE_MS,
  },
};

type Given = Record<string, unknown>;

/**
 * The settings after an update; what it does not name, and what is not known here, changes nothing.
 * @param session  of `session.update`, or the flat one of `transcription_session.update`
 * @throws SettingsError
 */
export function updateSettings(before: RealtimeSettings, session: unknown): RealtimeSettings {
  const given = objectOf(session);
  const type = given['type'];
  if (type !== undefined && type !== 'transcription') {
    throw new SettingsError('session.type', 'This server transcribes only: session.type must be transcription.');
  }
  const input = objectOf(objectOf(given['audio'])['input']);
  const oldFormat = given['input_audio_format'];
  const format = input['format'] ?? (typeof oldFormat === 'string' ? (OLD_FORMATS[oldFormat] ?? oldFormat) : undefined);
  const transcription = objectOf(input['transcription'] ?? given['input_audio_transcription']);
  const turns = 'turn_detection' in input ? input['turn_detection'] : given['turn_detection'];
  const updated = {
    ...before,
    ...(format !== undefined && { format: formatOf(format) }),
    ...transcriptionOf(transcription),
    ...(turns !== undefined && turnsOf(turns)),
  };
  checkTexts(updated);
  return updated;
}

function checkTexts(settings: RealtimeSettings): void {
  try {
    requestOf(settings, 'lite');
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause;
    throw new SettingsError(`session.audio.input.transcription.${cause.param ?? 'prompt'}`, cause.message);
  }
}

/**
 * What the job of a session is asked for. Its texts have the limits that they have in POST /v1/transcribe.
 * @throws ApiError  400, naming the field
 */
export function requestOf({ language, prompt, keywords }: RealtimeSettings, plan: Plan): JobRequest {
  const fields = new Map<string, string>([['plan', plan]]);
  if (language !== null) fields.set('language', language);
  if (prompt !== null) fields.set('prompt', prompt);
  if (keywords.length > 0) fields.set('keywords', keywords.at(-1)!);
  return readJobRequest({ fields, lists: new Map(keywords.length > 0 ? [['keywords', keywords]] : []) }, plan);
}

/** The session as the events show it. */
export function showSettings(
  { format, model, language, prompt, turnDetection }: RealtimeSettings,
  head: { id: string; expiresAt: number },
) {
  return {
    id: head.id,
    object: 'realtime.transcription_session',
    type: 'transcription',
    expires_at: head.expiresAt,
    audio: {
      input: {
        format: showFormat(format),
        transcription: { model, language, prompt },
        noise_reduction: null,
        turn_detection: turnDetection,
      },
    },
    include: null,
  };
}

/** The options of the live session that serves the settings. */
export function liveOptionsOf({ format, silenceMs }: RealtimeSettings): LiveOptions {
  return {
    ...format,
    partials: true,
    endpointingMs: silenceMs ?? 0,
    maxSegmentSeconds: silenceMs === null ? COMMIT_MAX_SECONDS : VAD_MAX_SECONDS,
    // Its clients cannot come back.
    resumeSeconds: 0,
    idleSeconds: 3_600,
  };
}

/** The plan that a model names; for any other model that of the account. */
export function planOf(model: string | null, accountPlan: Plan): Plan {
  return PLANS.find((plan) => plan === model) ?? accountPlan;
}

function formatOf(given: unknown): RealtimeSettings['format'] {
  const { type, rate = 24_000 } = objectOf(given);
  if (type === 'audio/pcmu') return { encoding: 'mulaw', sampleRate: 8_000 };
  if (type === 'audio/pcma') return { encoding: 'alaw', sampleRate: 8_000 };
  if (type === 'audio/pcm' && PCM_RATES.includes(rate as number)) {
    return { encoding: 'pcm_s16le', sampleRate: rate as LiveSampleRate };
  }
  const message = 'The audio format must be audio/pcm at 8000, 16000 or 24000, audio/pcmu or audio/pcma.';
  throw new SettingsError('session.audio.input.format', message);
}

function showFormat({ encoding, sampleRate }: RealtimeSettings['format']) {
  if (encoding === 'pcm_s16le') return { type: 'audio/pcm', rate: sampleRate };
  return { type: encoding === 'mulaw' ? 'audio/pcmu' : 'audio/pcma' };
}

function transcriptionOf(given: Given): Partial<RealtimeSettings> {
  const { model, language, languages, prompt, keywords } = given;
  const [first] = Array.isArray(languages) ? languages : [];
  const tag = language ?? first;
  const words = Array.isArray(keywords) ? keywords.filter((word) => typeof word === 'string') : null;
  return {
    ...(typeof model === 'string' && { model: model.slice(0, MAX_MODEL_CHARS) }),
    ...(typeof tag === 'string' && { language: tag === '' ? null : tag.slice(0, 35) }),
    ...(typeof prompt === 'string' && { prompt: prompt === '' ? null : prompt }),
    ...(words && { keywords: words }),
  };
}

function turnsOf(given: unknown): Pick<RealtimeSettings, 'silenceMs' | 'turnDetection'> {
  if (given === null) return { silenceMs: null, turnDetection: null };
  const { type, silence_duration_ms: silence, eagerness, threshold, prefix_padding_ms: padding } = objectOf(given);
  if (type === 'semantic_vad') {
    const asked = typeof eagerness === 'string' && Object.hasOwn(EAGERNESS_MS, eagerness) ? eagerness : 'auto';
    return { silenceMs: EAGERNESS_MS[asked]!, turnDetection: { type, eagerness: asked } };
  }
  const wanted = typeof silence === 'number' && Number.isFinite(silence) ? Math.round(silence) : DEFAULT_SILENCE_MS;
  const silenceMs = Math.max(SILENCE.min, Math.min(SILENCE.max, wanted));
  return {
    silenceMs,
    turnDetection: {
      type: 'server_vad',
      threshold: typeof threshold === 'number' ? threshold : 0.5,
      prefix_padding_ms: typeof padding === 'number' ? padding : 300,
      silence_duration_ms: silenceMs,
    },
  };
}

function objectOf(value: unknown): Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Given) : {};
}
