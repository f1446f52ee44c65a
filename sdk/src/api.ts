// Made from the API document by `node scripts/docs.ts`; do not edit.

/**
 * The data of each server-sent event. The deltas add up to the text. An error after the first byte is an event with the body of an error.
 */
export type OpenAiTranscriptionEvent =
  | {
      type: 'transcript.text.delta';
      delta: string;
    }
  | {
      type: 'transcript.text.segment';
      id: string;
      start: number;
      end: number;
      text: string;
      /**
       * Null where the speakers were not found.
       */
      speaker: string | null;
    }
  | {
      type: 'transcript.text.done';
      text: string;
      usage: OpenAiUsage;
    };

export interface TranscribeByUrl {
  /**
   * In place of the file: an https URL, port 443, at a public address, from which the service fetches the audio. Up to 5 redirects are followed, each under the same rules. Its query is never shown or logged.
   */
  audio_url: string;
  /**
   * Headers for the fetch, at most 10 and 4 KiB, sent to the origin of audio_url only. Not Host, Content-Length, Connection, Transfer-Encoding, Range, Accept-Encoding, Cookie and the like. In a form: JSON text.
   */
  audio_url_headers?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^.*$".
     */
    [k: string]: string;
  };
  /**
   * Absent: the account's plan.
   */
  plan?: 'lite' | 'pro';
  /**
   * true: a 202 at once; else the answer waits for the end of the job.
   */
  async?: boolean;
  /**
   * A string that contains JSON, or an object or list; at most 4,096 bytes of UTF-8, and its text comes back unchanged.
   */
  metadata?: string | {} | unknown[];
  /**
   * A name of your own for the job: one line. Lists are searched by it, and documents and downloads have it.
   */
  title?: string;
  /**
   * Words of your own, by which jobs are listed: `GET /v1/jobs?tag=`. Duplicates are folded.
   *
   * @maxItems 10
   */
  tags?: string[];
  /**
   * BCP 47 code such as en; absent: detected where the model can.
   */
  language?: string;
  timestamps?: 'segment' | 'word';
  /**
   * Other than json only without async.
   */
  response_format?: 'json' | 'text' | 'srt' | 'vtt';
  /**
   * The events of this job go there too, under the rules for webhooks; it does not count as a webhook of the plan. JOB_WEBHOOKS says which accounts may.
   */
  webhook_url?: string;
  /**
   * Signs these deliveries: `whsec_` and the base64 of 24 to 64 random bytes. Without it one is made, and shown in the answer to this request only. Needs webhook_url.
   */
  webhook_secret?: string;
  /**
   * Context for the engine, such as the subject or a text in the wanted style.
   */
  prompt?: string;
  /**
   * Words that the engine should know, each of at most 6 words; letters, digits, spaces, ' - and a full stop.
   *
   * @maxItems 100
   */
  keywords?: string[];
  /**
   * Words and phrases of the transcript to replace: whole words, in any case, of several the longest, each once; an empty `to` leaves them out.
   *
   * @maxItems 200
   */
  replacements?: {
    from: string;
    to: string;
  }[];
  /**
   * Language of the text, in place of the spoken one. Answered 400 where the engine of the plan cannot.
   */
  translate_to?: 'en';
  /**
   * Label who says what; needs the speaker model on the server.
   */
  diarize?: boolean;
  /**
   * The exact number of speakers, with diarize=true.
   */
  speakers?: number;
  /**
   * The smallest number of speakers, with diarize=true.
   */
  min_speakers?: number;
  /**
   * The largest number of speakers, with diarize=true.
   */
  max_speakers?: number;
  /**
   * true: each channel is transcribed on its own, at most 8, and its segments carry its number; each distinct one is charged.
   */
  multichannel?: boolean;
  /**
   * The audio track: its index among the audio tracks, from 0, or its language, such as de. Absent: the first.
   */
  audio_track?: number | string;
  /**
   * The job is erased this many seconds after its end, once its deliveries have ended; at most JOB_RETENTION_DAYS.
   */
  delete_after_seconds?: number;
  /**
   * Characters of a line. With srt and vtt; 42 where another of these is given.
   */
  max_line_length?: number;
  /**
   * Lines of a caption. With srt and vtt; 2 where another of these is given.
   */
  max_lines?: number;
  /**
   * Seconds. With srt and vtt; 0.833 where another of these is given.
   */
  min_duration?: number;
  /**
   * Seconds. With srt and vtt; 7 where another of these is given.
   */
  max_duration?: number;
  /**
   * Reading speed. With srt and vtt; 20 where another of these is given.
   */
  max_chars_per_second?: number;
  /**
   * Seconds between two captions. With srt and vtt; 0.083 where another of these is given.
   */
  min_gap?: number;
}
export interface AudioTrack {
  /**
   * Among the audio tracks, from 0.
   */
  index: number;
  /**
   * As the file says; null where it names none.
   */
  language: string | null;
  /**
   * As the file says.
   */
  title: string | null;
  codec: string;
  channels: number;
  /**
   * Whether the file marks the track as the one to play.
   */
  default: boolean;
}
/**
 * What the request asked for; what it left out is absent.
 */
export interface JobOptions {
  /**
   * As the request named it.
   */
  language?: string;
  timestamps?: 'word';
  /**
   * Context for the engine, such as the subject or a text in the wanted style.
   */
  prompt?: string;
  /**
   * Words that the engine should know, each of at most 6 words; letters, digits, spaces, ' - and a full stop.
   *
   * @maxItems 100
   */
  keywords?: string[];
  /**
   * Words and phrases of the transcript to replace: whole words, in any case, of several the longest, each once; an empty `to` leaves them out.
   *
   * @maxItems 200
   */
  replacements?: {
    from: string;
    to: string;
  }[];
  /**
   * Language of the text, in place of the spoken one. Answered 400 where the engine of the plan cannot.
   */
  translate_to?: 'en';
  /**
   * Label who says what; needs the speaker model on the server.
   */
  diarize?: boolean;
  /**
   * The exact number of speakers, with diarize=true.
   */
  speakers?: number;
  /**
   * The smallest number of speakers, with diarize=true.
   */
  min_speakers?: number;
  /**
   * The largest number of speakers, with diarize=true.
   */
  max_speakers?: number;
  /**
   * true: each channel is transcribed on its own, at most 8, and its segments carry its number; each distinct one is charged.
   */
  multichannel?: boolean;
  /**
   * The audio track: its index among the audio tracks, from 0, or its language, such as de. Absent: the first.
   */
  audio_track?: number | string;
  /**
   * The job is erased this many seconds after its end, once its deliveries have ended; at most JOB_RETENTION_DAYS.
   */
  delete_after_seconds?: number;
}
export interface Word {
  /**
   * From 0; with multichannel.
   */
  channel?: number;
  /**
   * Seconds from the start of the audio.
   */
  start: number;
  end: number;
  text: string;
  /**
   * 0 to 1; null where the engine gives none.
   */
  confidence: number | null;
  /**
   * With diarize=true; null where the speakers were not found.
   */
  speaker?: string | null;
  /**
   * The engine gives this word no times: they lie between those of its neighbours. Else absent.
   */
  estimated?: true;
}
export interface Segment {
  /**
   * From 0; with multichannel.
   */
  channel?: number;
  /**
   * Seconds from the start of the audio.
   */
  start: number;
  end: number;
  text: string;
  /**
   * 0 to 1; null where the engine gives none.
   */
  confidence: number | null;
  /**
   * With diarize=true; null where the speakers were not found.
   */
  speaker?: string | null;
  /**
   * The share of its time in which no speech was detected; absent without a voice detector.
   */
  no_speech_share?: number;
  /**
   * With timestamps=word.
   */
  words?: Word[];
}
export interface Speaker {
  /**
   * As in segments and words.
   */
  id: string;
  /**
   * How long the speaker speaks.
   */
  seconds: number;
}
export interface Warning {
  /**
   * Later versions may add codes.
   */
  code:
    | 'prompt_unsupported'
    | 'keywords_unsupported'
    | 'words_unsupported'
    | 'language_ignored'
    | 'speakers_unavailable'
    | 'speakers_uncertain'
    | 'more_audio_tracks'
    | 'duplicate_channels'
    | 'silent_channel'
    | 'audio_truncated'
    | 'audio_after_end'
    | 'no_speech'
    | 'untranscribed'
    | 'repetition'
    | 'text_cut'
    | 'connection_lost'
    | 'audio_gap'
    | 'behind'
    | 'segment_failed'
    | 'more_warnings';
  message: string;
  /**
   * Seconds; absent: about all of the audio.
   */
  start?: number;
  end?: number;
  /**
   * Of the file, which are not read.
   */
  bytes?: number;
}
export interface Job {
  id: string;
  status: 'queued' | 'processing' | 'completed' | 'failed' | 'canceled';
  /**
   * What a queued job waits for beside its turn; it does not fail meanwhile.
   */
  waiting_for: ('engine' | 'storage' | 'model') | null;
  /**
   * While `waiting_for` is not null.
   */
  waiting_since?: string;
  plan: 'lite' | 'pro';
  model: string | null;
  /**
   * The spoken language.
   */
  language: string | null;
  /**
   * The language of the text, where a translation was asked for; null until completed.
   */
  translated_to: 'en' | null;
  audio: {
    filename: string | null;
    /**
     * Null until audio from a URL is stored; likewise length and size.
     */
    format: string | null;
    duration_seconds: number | null;
    size_bytes: number | null;
    /**
     * Origin and path of audio_url; null for an upload.
     */
    source: string | null;
    /**
     * Of the audio track that is transcribed; null while it is unknown.
     */
    channels: number | null;
    /**
     * The audio tracks of the file; empty while they are unknown.
     *
     * @maxItems 32
     */
    tracks: AudioTrack[];
  };
  /**
   * A name of your own; null without one.
   */
  title: string | null;
  /**
   * Words of your own.
   */
  tags: string[];
  /**
   * Any JSON value, as the request carried it, unchanged; null without it.
   */
  metadata: unknown;
  options: JobOptions;
  /**
   * Null until completed.
   */
  text: string | null;
  /**
   * Null until completed.
   */
  segments: Segment[] | null;
  /**
   * In the order of their first words. Null unless asked for with diarize, until completed, and where they were not found.
   */
  speakers: Speaker[] | null;
  /**
   * Empty when there are none, and until the job has ended.
   */
  warnings: Warning[];
  error: {
    type: 'unprocessable_audio' | 'insufficient_balance' | 'engine_error' | 'engine_timeout' | 'audio_fetch_failed';
    message: string;
    /**
     * With audio_fetch_failed.
     */
    reason?: 'dns' | 'connect' | 'tls' | 'timeout' | 'http_status' | 'redirect' | 'forbidden_address' | 'too_large';
    /**
     * With audio_fetch_failed: what the server of the audio answered.
     */
    http_status?: number;
  } | null;
  /**
   * Credits; null until known.
   */
  cost: number | null;
  progress: number;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
  /**
   * From when on the job is erased; null without delete_after_seconds, and until it has ended.
   */
  expires_at: string | null;
  /**
   * 1 for the next to start; while it is queued.
   */
  queue_position?: number;
  /**
   * Of a live session, until it ends.
   */
  live?: {
    connected: boolean;
    /**
     * Seconds of audio that are stored.
     */
    offset_seconds: number;
  };
  /**
   * Where the webhook of this job alone sends to. Only where the request gave one.
   */
  webhook_url?: string;
  /**
   * Only in the answer to the request that sent the job: signs the deliveries to webhook_url, where the request gave no secret.
   */
  webhook_secret?: string;
}
export interface ErrorBody {
  error: {
    /**
     * A sentence that says what to do.
     */
    message: string;
    /**
     * Equal to the HTTP status.
     */
    code: number;
    /**
     * Stable; program against it.
     */
    type:
      | 'invalid_request'
      | 'forbidden_url'
      | 'unauthenticated'
      | 'insufficient_balance'
      | 'plan_limit'
      | 'missing_scope'
      | 'missing_role'
      | 'suspended'
      | 'not_found'
      | 'method_not_allowed'
      | 'conflict'
      | 'too_large'
      | 'unsupported_media_type'
      | 'range_not_satisfiable'
      | 'unprocessable_audio'
      | 'audio_fetch_failed'
      | 'rate_limited'
      | 'internal'
      | 'unavailable';
    /**
     * The field at fault, when one is.
     */
    param?: string;
    /**
     * The page that explains the error: a path of this service.
     */
    docs: string;
  };
  /**
   * With 429: seconds after which one request will pass.
   */
  retry_after?: number;
  /**
   * With 403 missing_scope: what the key lacks.
   */
  required_scope?: string;
  /**
   * With 402: what the audio costs; 0.000001 while its length is not known.
   */
  needed_credits?: number;
  /**
   * With 402: what can be spent.
   */
  available_credits?: number;
  /**
   * With audio_fetch_failed: as in the error of the job.
   */
  reason?: string;
  /**
   * With audio_fetch_failed: what the server answered.
   */
  http_status?: number;
  /**
   * The job, where the failed request made one.
   */
  job_id?: string;
  request_id: string;
}
export interface JobInList {
  id: string;
  status: 'queued' | 'processing' | 'completed' | 'failed' | 'canceled';
  /**
   * What a queued job waits for beside its turn; it does not fail meanwhile.
   */
  waiting_for: ('engine' | 'storage' | 'model') | null;
  /**
   * While `waiting_for` is not null.
   */
  waiting_since?: string;
  plan: 'lite' | 'pro';
  model: string | null;
  /**
   * The spoken language.
   */
  language: string | null;
  /**
   * The language of the text, where a translation was asked for; null until completed.
   */
  translated_to: 'en' | null;
  audio: {
    filename: string | null;
    /**
     * Null until audio from a URL is stored; likewise length and size.
     */
    format: string | null;
    duration_seconds: number | null;
    size_bytes: number | null;
    /**
     * Origin and path of audio_url; null for an upload.
     */
    source: string | null;
    /**
     * Of the audio track that is transcribed; null while it is unknown.
     */
    channels: number | null;
    /**
     * The audio tracks of the file; empty while they are unknown.
     *
     * @maxItems 32
     */
    tracks: AudioTrack[];
  };
  /**
   * A name of your own; null without one.
   */
  title: string | null;
  /**
   * Words of your own.
   */
  tags: string[];
  /**
   * Any JSON value, as the request carried it, unchanged; null without it.
   */
  metadata: unknown;
  options: JobOptions;
  /**
   * Null until completed.
   */
  text: string | null;
  /**
   * The text has more than the 500 characters that lists show; GET the job for all.
   */
  text_cut?: boolean;
  /**
   * In the order of their first words. Null unless asked for with diarize, until completed, and where they were not found.
   */
  speakers: Speaker[] | null;
  /**
   * Empty when there are none, and until the job has ended.
   */
  warnings: Warning[];
  error: {
    type: 'unprocessable_audio' | 'insufficient_balance' | 'engine_error' | 'engine_timeout' | 'audio_fetch_failed';
    message: string;
    /**
     * With audio_fetch_failed.
     */
    reason?: 'dns' | 'connect' | 'tls' | 'timeout' | 'http_status' | 'redirect' | 'forbidden_address' | 'too_large';
    /**
     * With audio_fetch_failed: what the server of the audio answered.
     */
    http_status?: number;
  } | null;
  /**
   * Credits; null until known.
   */
  cost: number | null;
  progress: number;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
  /**
   * From when on the job is erased; null without delete_after_seconds, and until it has ended.
   */
  expires_at: string | null;
}
export interface JobList {
  data: JobInList[];
  has_more: boolean;
  /**
   * Pass it on as `cursor` for the next page; null on the last one.
   */
  next_cursor: string | null;
}
/**
 * The data of each server-sent event, by the name of the event.
 */
export interface JobStreamEvents {
  status: {
    id: string;
    status: 'queued' | 'processing' | 'completed' | 'failed' | 'canceled';
    /**
     * As of the job; absent where it is null.
     */
    waiting_for?: 'engine' | 'storage' | 'model';
    /**
     * While `waiting_for` is not null.
     */
    waiting_since?: string;
    queue_position?: number;
    error: {
      type: 'unprocessable_audio' | 'insufficient_balance' | 'engine_error' | 'engine_timeout' | 'audio_fetch_failed';
      message: string;
      /**
       * With audio_fetch_failed.
       */
      reason?: 'dns' | 'connect' | 'tls' | 'timeout' | 'http_status' | 'redirect' | 'forbidden_address' | 'too_large';
      /**
       * With audio_fetch_failed: what the server of the audio answered.
       */
      http_status?: number;
    } | null;
  };
  progress: {
    progress: number;
  };
  segment: {
    /**
     * A number that came before replaces the earlier segment.
     */
    index: number;
    /**
     * From 0; with multichannel.
     */
    channel?: number;
    /**
     * Seconds from the start of the audio.
     */
    start: number;
    end: number;
    text: string;
    /**
     * 0 to 1; null where the engine gives none.
     */
    confidence: number | null;
    /**
     * With diarize=true; null where the speakers were not found.
     */
    speaker?: string | null;
    words?: Word[];
  };
}
export interface Transcript {
  version: 'original' | 'edited';
  text: string | null;
  /**
   * The spoken language.
   */
  language: string | null;
  /**
   * The language of the text, where a translation was asked for.
   */
  translated_to: 'en' | null;
  duration_seconds: number;
  /**
   * When the shown version was last edited; null for the original.
   */
  edited_at: string | null;
  /**
   * The names that speakers were given, by their labels; absent where none was named.
   */
  speakers?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^.*$".
     */
    [k: string]: string;
  };
  /**
   * The speakers that are shown as another one, by their labels; absent where none was merged.
   */
  merged_speakers?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^.*$".
     */
    [k: string]: string;
  };
  segments: Segment[];
}
export interface OpenAiUsage {
  type: 'duration';
  /**
   * Of audio, rounded up.
   */
  seconds: number;
}
/**
 * More than text and usage only with verbose_json and diarized_json.
 */
export interface OpenAiTranscription {
  text: string | null;
  usage: OpenAiUsage;
  task?: 'transcribe' | 'translate';
  /**
   * Of the text, in English: english. Empty when it is not known.
   */
  language?: string;
  /**
   * Seconds.
   */
  duration?: number;
  segments?: unknown[];
  words?: {
    word: string;
    start: number;
    end: number;
    /**
     * The engine gives this word no times: they lie between those of its neighbours. Else absent.
     */
    estimated?: true;
  }[];
}
export interface Model {
  /**
   * A plan: a value of `model`, and of `plan` on POST /v1/transcribe.
   */
  id: 'lite' | 'pro';
  object: 'model';
  /**
   * The same for every plan; clients of that API require it.
   */
  created: number;
  owned_by: 'verbatim';
  /**
   * The name of the plan's engine; null until it is ready for the first time.
   */
  engine: string | null;
  /**
   * BCP 47 codes; null when the engine takes any, or is not known yet.
   */
  languages: string[] | null;
  features: ('words' | 'confidence' | 'prompt' | 'keywords' | 'translate' | 'diarize')[];
  /**
   * Of the model; null when unknown.
   */
  licence: string | null;
  /**
   * Who is to be named with the transcripts, where the licence asks for it.
   */
  attribution: string | null;
}
/**
 * As OpenAI's API lists models, with further fields.
 */
export interface ModelList {
  object: 'list';
  data: Model[];
}
export interface SearchHit {
  /**
   * Its index in the segments of the transcript.
   */
  segment: number;
  /**
   * Seconds from the start of the audio.
   */
  start: number;
  end: number;
  text: string;
  /**
   * As in the transcript.
   */
  speaker?: string | null;
  channel?: number;
  /**
   * Where the words stand in `text`: start and end, in UTF-16 units as in JavaScript.
   *
   * @maxItems 100
   */
  highlights: number[][];
}
export interface SearchResult {
  job_id: string;
  created_at: string;
  /**
   * As the job has it.
   */
  title: string | null;
  filename: string | null;
  /**
   * Of the text.
   */
  language: string | null;
  /**
   * In the order of the audio.
   *
   * @maxItems 3
   */
  hits: SearchHit[];
}
export interface SearchResultList {
  data: SearchResult[];
  has_more: boolean;
  /**
   * Pass it on as `cursor` for the next page; null on the last one.
   */
  next_cursor: string | null;
}
export interface NewShare {
  id: string;
  /**
   * A page with the transcript; relative to the address of the service unless PUBLIC_URL names it. Shown only here. What follows the last slash is the token of `GET /v1/shared/{token}`.
   */
  url: string;
  /**
   * Not later than the API key that made the link expires.
   */
  expires_at: string;
}
export interface Share {
  id: string;
  created_at: string;
  /**
   * Not later than the API key that made the link expires.
   */
  expires_at: string;
  /**
   * How often the transcript was read by it, files included.
   */
  opened_count: number;
  last_opened_at: string | null;
}
export interface ShareList {
  /**
   * @maxItems 20
   */
  data: Share[];
}
export interface SharedTranscript {
  /**
   * The title of the job, else the name of the audio file, else `Transcript`.
   */
  name: string;
  /**
   * When the audio was sent.
   */
  created_at: string;
  /**
   * When the link ends.
   */
  expires_at: string;
  text: string | null;
  /**
   * The spoken language.
   */
  language: string | null;
  /**
   * The language of the text, where a translation was asked for.
   */
  translated_to: 'en' | null;
  duration_seconds: number;
  /**
   * The names that speakers were given, by their labels; absent where none was named.
   */
  speakers?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^.*$".
     */
    [k: string]: string;
  };
  segments: Segment[];
}
export interface AudioLink {
  /**
   * Relative to the address of the service.
   */
  url: string;
  expires_at: string;
}
export interface Peaks {
  duration_seconds: number;
  /**
   * The lowest sample of each part of the audio, of -128 to 127.
   */
  min: number[];
  /**
   * The highest sample of each part; as many as in `min`.
   */
  max: number[];
}
export interface Delivery {
  id: string;
  webhook_id: string;
  event_id: string;
  event_type:
    'transcription.completed' | 'transcription.failed' | 'webhook.test' | 'webhook.disabled' | 'webhook.exhausted';
  /**
   * Null when the webhook is deleted and the attempt was never made.
   */
  url: string | null;
  /**
   * 1 to 4.
   */
  attempt: number;
  status: 'succeeded' | 'failed' | 'pending' | 'dropped';
  /**
   * The status line of the answer; null when none came.
   */
  response_status: number | null;
  error: {
    reason:
      'http_status' | 'redirect' | 'timeout' | 'dns' | 'forbidden_address' | 'connect' | 'tls' | 'reset' | 'protocol';
    message: string;
  } | null;
  /**
   * From the start of name resolution to the end of the attempt.
   */
  duration_ms: number | null;
  timings: {
    /**
     * Name resolution.
     */
    dns_ms: number | null;
    /**
     * TCP. Null for a phase that did not end, and on a connection that is used again.
     */
    connect_ms: number | null;
    /**
     * TLS.
     */
    tls_ms: number | null;
    /**
     * Up to the first byte of the answer.
     */
    first_byte_ms: number | null;
    /**
     * Whether the request was sent on the connection of an earlier attempt: connect_ms and tls_ms are null.
     */
    reused: boolean;
  };
  created_at: string;
  completed_at: string | null;
  next_attempt_at: string | null;
}
/**
 * The data of each server-sent event, by the name of the event.
 */
export interface AccountStreamEvents {
  hello: {
    account: string;
    /**
     * Of the service.
     */
    version: string;
    now: string;
    /**
     * The oldest event that is kept.
     */
    oldest_id: string | null;
  };
  event: {
    id: string;
    type:
      'transcription.completed' | 'transcription.failed' | 'webhook.test' | 'webhook.disabled' | 'webhook.exhausted';
    created_at: string;
    /**
     * Of the body, in hex.
     */
    sha256: string;
    /**
     * The body as it is sent to webhooks: JSON text.
     */
    body: string;
  };
  /**
   * An event that was redelivered or recovered, at its first attempt.
   */
  resend: {
    id: string;
    type:
      'transcription.completed' | 'transcription.failed' | 'webhook.test' | 'webhook.disabled' | 'webhook.exhausted';
    created_at: string;
    /**
     * Of the body, in hex.
     */
    sha256: string;
    /**
     * The body as it is sent to webhooks: JSON text.
     */
    body: string;
    webhook_id: string;
    /**
     * Of that attempt.
     */
    delivery_id: string;
  };
  job: JobInList;
  delivery: Delivery;
  /**
   * What was asked for is no longer kept; the stream goes on with what is.
   */
  gap: {
    from: string;
    oldest_id: string | null;
  };
  bye: {
    reason: 'stopping' | 'key_ended';
  };
}
export interface OwnAccount {
  id: string;
  name: string;
  plan: 'lite' | 'pro';
  limits: {
    /**
     * Webhooks that the plan allows; disabled ones count.
     */
    webhooks: number;
    /**
     * By group of endpoints; the RateLimit headers of each answer show what is left.
     */
    rates: {
      /**
       * The most requests in any span of this length, in seconds; null: no limit.
       */
      transcribe: {
        requests: number;
        seconds: number;
      } | null;
      /**
       * The most requests in any span of this length, in seconds; null: no limit.
       */
      balance: {
        requests: number;
        seconds: number;
      } | null;
      /**
       * The most requests in any span of this length, in seconds; null: no limit.
       */
      jobs: {
        requests: number;
        seconds: number;
      } | null;
      /**
       * The most requests in any span of this length, in seconds; null: no limit.
       */
      resend: {
        requests: number;
        seconds: number;
      } | null;
      /**
       * The most requests in any span of this length, in seconds; null: no limit.
       */
      default: {
        requests: number;
        seconds: number;
      } | null;
    };
    upload_bytes: number;
    audio_seconds: number;
    /**
     * How long the delivery log is kept.
     */
    delivery_log_days: number;
    /**
     * How long ended jobs are kept.
     */
    job_days: number;
  };
  /**
   * How deliveries are attempted.
   */
  deliveries: {
    /**
     * Of one attempt.
     */
    timeout_ms: number;
    /**
     * Before each attempt, counted from the end of the one before; each varies by up to 10 %.
     */
    retry_delays_seconds: number[];
    /**
     * A webhook is disabled after this number of failed attempts in a row …
     */
    disable_failures: number;
    /**
     * … over at least this time.
     */
    disable_seconds: number;
  };
  /**
   * How the headers of deliveries begin.
   */
  webhook_header_prefix: string;
  /**
   * What the key of this request may do.
   */
  scopes: ('jobs:read' | 'jobs:write' | 'webhooks:read' | 'webhooks:write' | 'usage:read' | 'keys:write')[];
}
export interface LedgerEntry {
  id: string;
  account_id: string;
  /**
   * 1 for the account's first entry; without gaps.
   */
  number: number;
  /**
   * credit: by the operator; hold: set aside for a job; capture: the end of a hold, which took the cost of the job and gave back the rest; release: the end of a hold without a cost.
   */
  kind: 'credit' | 'hold' | 'capture' | 'release';
  /**
   * Added to what can be spent.
   */
  amount: number;
  /**
   * Added to what is held.
   */
  held: number;
  /**
   * After the entry.
   */
  balance: {
    amount: number;
    held: number;
  };
  job_id: string | null;
  note: string | null;
  created_at: string;
}
export interface LedgerEntryList {
  data: LedgerEntry[];
  has_more: boolean;
  /**
   * Pass it on as `cursor` for the next page; null on the last one.
   */
  next_cursor: string | null;
}
export interface Balance {
  /**
   * What can be spent; null when unlimited.
   */
  amount: number | null;
  /**
   * Set aside for accepted jobs.
   */
  held: number;
  units: 'credits';
  unlimited: boolean;
  /**
   * Credits per minute of audio.
   */
  rates: {
    lite: number;
    pro: number;
  };
  plan: 'lite' | 'pro';
}
export interface UsageRow {
  start: string;
  end: string;
  /**
   * With group_by=plan.
   */
  plan?: 'lite' | 'pro';
  /**
   * With group_by=model; null: jobs that ended before they had one.
   */
  model?: string | null;
  /**
   * With group_by=key; the key may be deleted since.
   */
  key_id?: string | null;
  /**
   * Jobs that ended, in whichever state.
   */
  jobs: number;
  /**
   * Those of them that failed.
   */
  failed: number;
  /**
   * Those of them that were canceled.
   */
  canceled: number;
  /**
   * Length of the audio of these jobs.
   */
  audio_seconds: number;
  /**
   * Length that was charged; with multichannel that of each channel.
   */
  billed_seconds: number;
  /**
   * Credits.
   */
  cost: number;
}
export interface Usage {
  from: string;
  to: string;
  bucket: 'hour' | 'day' | 'month';
  /**
   * Oldest first; without buckets in which no job ended.
   */
  data: UsageRow[];
}
export interface Key {
  id: string;
  name: string | null;
  /**
   * How the key begins.
   */
  prefix: string;
  /**
   * Empty: all. `jobs:read`: read jobs, their transcripts, stored audio and event streams; `jobs:write`: transcribe audio; retry, cancel and erase jobs; edit transcripts; with jobs:read, share them by links; `webhooks:read`: read webhooks, events and the delivery log; `webhooks:write`: create, change, test and delete webhooks, rotate their secrets, redeliver and recover events; `usage:read`: read the balance, the ledger and the usage; `keys:write`: list, create and delete the account's keys.
   *
   * @maxItems 100
   */
  scopes: ('jobs:read' | 'jobs:write' | 'webhooks:read' | 'webhooks:write' | 'usage:read' | 'keys:write')[];
  created_at: string;
  /**
   * From when on the key is refused; null: never.
   */
  expires_at: string | null;
  /**
   * At most a minute old; null: not used yet.
   */
  last_used_at: string | null;
  /**
   * The user who made it; null: a key or the operator did, or the user is gone.
   */
  created_by: {
    id: string;
    name: string;
  } | null;
}
export interface KeyList {
  data: Key[];
  has_more: boolean;
  /**
   * Pass it on as `cursor` for the next page; null on the last one.
   */
  next_cursor: string | null;
}
export interface NewKey {
  id: string;
  name: string | null;
  /**
   * How the key begins.
   */
  prefix: string;
  /**
   * Empty: all. `jobs:read`: read jobs, their transcripts, stored audio and event streams; `jobs:write`: transcribe audio; retry, cancel and erase jobs; edit transcripts; with jobs:read, share them by links; `webhooks:read`: read webhooks, events and the delivery log; `webhooks:write`: create, change, test and delete webhooks, rotate their secrets, redeliver and recover events; `usage:read`: read the balance, the ledger and the usage; `keys:write`: list, create and delete the account's keys.
   *
   * @maxItems 100
   */
  scopes: ('jobs:read' | 'jobs:write' | 'webhooks:read' | 'webhooks:write' | 'usage:read' | 'keys:write')[];
  created_at: string;
  /**
   * From when on the key is refused; null: never.
   */
  expires_at: string | null;
  /**
   * At most a minute old; null: not used yet.
   */
  last_used_at: string | null;
  /**
   * The user who made it; null: a key or the operator did, or the user is gone.
   */
  created_by: {
    id: string;
    name: string;
  } | null;
  /**
   * Shown only in this answer.
   */
  key: string;
}
export interface Session {
  id: string;
  account_id: string;
  /**
   * The key that signed in. The session has its scopes, and ends with it. Null for a user.
   */
  key_id: string | null;
  /**
   * The user who signed in. The session has the scopes of the role. Null for a key.
   */
  user_id: string | null;
  created_at: string;
  expires_at: string;
}
export interface WaysToSignIn {
  /**
   * There is no user yet: `POST /v1/setup` makes the first one.
   */
  setup: boolean;
  /**
   * Users sign in with an email and a password.
   */
  password: boolean;
  /**
   * Users sign in by OpenID Connect; null: they do not.
   */
  oidc: {
    /**
     * How the provider is called.
     */
    name: string;
  } | null;
}
export interface Me {
  id: string;
  name: string;
  email: string;
  has_password: boolean;
  /**
   * Whether the session permits `/admin/v1` too.
   */
  operator: boolean;
  /**
   * `owner`: everything in the account: also its users, invitations, and all keys; `member`: jobs, webhooks, usage, and keys of their own; `viewer`: reading jobs, webhooks, events and usage
   */
  role: 'owner' | 'member' | 'viewer';
  account_id: string;
  /**
   * All accounts of the user.
   */
  accounts: {
    id: string;
    name: string;
    /**
     * `owner`: everything in the account: also its users, invitations, and all keys; `member`: jobs, webhooks, usage, and keys of their own; `viewer`: reading jobs, webhooks, events and usage
     */
    role: 'owner' | 'member' | 'viewer';
  }[];
}
export interface User {
  id: string;
  name: string;
  email: string;
  /**
   * `owner`: everything in the account: also its users, invitations, and all keys; `member`: jobs, webhooks, usage, and keys of their own; `viewer`: reading jobs, webhooks, events and usage
   */
  role: 'owner' | 'member' | 'viewer';
  joined_at: string;
  /**
   * At most a minute old; null: no request yet.
   */
  last_used_at: string | null;
}
export interface UserList {
  data: User[];
  has_more: boolean;
  /**
   * Pass it on as `cursor` for the next page; null on the last one.
   */
  next_cursor: string | null;
}
export interface Invitation {
  id: string;
  /**
   * `owner`: everything in the account: also its users, invitations, and all keys; `member`: jobs, webhooks, usage, and keys of their own; `viewer`: reading jobs, webhooks, events and usage
   */
  role: 'owner' | 'member' | 'viewer';
  /**
   * The only address that may accept it; null: whoever has the link.
   */
  email: string | null;
  /**
   * The user who invites; null: the operator, or a user who is gone.
   */
  created_by: string | null;
  created_at: string;
  expires_at: string;
}
export interface InvitationList {
  data: Invitation[];
  has_more: boolean;
  /**
   * Pass it on as `cursor` for the next page; null on the last one.
   */
  next_cursor: string | null;
}
export interface NewInvitation {
  id: string;
  /**
   * `owner`: everything in the account: also its users, invitations, and all keys; `member`: jobs, webhooks, usage, and keys of their own; `viewer`: reading jobs, webhooks, events and usage
   */
  role: 'owner' | 'member' | 'viewer';
  /**
   * The only address that may accept it; null: whoever has the link.
   */
  email: string | null;
  /**
   * The user who invites; null: the operator, or a user who is gone.
   */
  created_by: string | null;
  created_at: string;
  expires_at: string;
  /**
   * The link to give to the person; relative to the address of the service. Shown only here.
   */
  url: string;
}
export interface OpenedInvitation {
  account_name: string;
  /**
   * `owner`: everything in the account: also its users, invitations, and all keys; `member`: jobs, webhooks, usage, and keys of their own; `viewer`: reading jobs, webhooks, events and usage
   */
  role: 'owner' | 'member' | 'viewer';
  /**
   * The only address that may accept it; null: any.
   */
  email: string | null;
  expires_at: string;
}
export interface SignInAtProvider {
  /**
   * At the provider.
   */
  url: string;
}
export interface WebhookWithSecret {
  id: string;
  /**
   * Only of the webhook of one job, which gets the events of this job alone and is in no list.
   */
  job_id?: string;
  url: string;
  events: ('transcription.completed' | 'transcription.failed' | 'webhook.test')[];
  description: string | null;
  /**
   * Names of its custom headers. Their values are never shown.
   */
  headers: string[];
  /**
   * How many requests may be sent in a second; null: no limit.
   */
  max_per_second: number | null;
  /**
   * The parts of a job that its deliveries have; for another, the job has `text_omitted` or `segments_omitted`.
   */
  include: ('text' | 'segments')[];
  active: boolean;
  disabled_reason: ('manual' | 'consecutive_failures') | null;
  disabled_at: string | null;
  /**
   * Failed attempts since the last one that succeeded.
   */
  consecutive_failures: number;
  failing_since: string | null;
  /**
   * Until then the secret before the last rotation signs too. May be past; null: no overlap was asked for.
   */
  previous_secret_ends_at: string | null;
  created_at: string;
  updated_at: string;
  /**
   * Signs deliveries. Shown only in this answer.
   */
  secret: string;
}
export interface Webhook {
  id: string;
  /**
   * Only of the webhook of one job, which gets the events of this job alone and is in no list.
   */
  job_id?: string;
  url: string;
  events: ('transcription.completed' | 'transcription.failed' | 'webhook.test')[];
  description: string | null;
  /**
   * Names of its custom headers. Their values are never shown.
   */
  headers: string[];
  /**
   * How many requests may be sent in a second; null: no limit.
   */
  max_per_second: number | null;
  /**
   * The parts of a job that its deliveries have; for another, the job has `text_omitted` or `segments_omitted`.
   */
  include: ('text' | 'segments')[];
  active: boolean;
  disabled_reason: ('manual' | 'consecutive_failures') | null;
  disabled_at: string | null;
  /**
   * Failed attempts since the last one that succeeded.
   */
  consecutive_failures: number;
  failing_since: string | null;
  /**
   * Until then the secret before the last rotation signs too. May be past; null: no overlap was asked for.
   */
  previous_secret_ends_at: string | null;
  created_at: string;
  updated_at: string;
}
export interface WebhookList {
  data: Webhook[];
  has_more: boolean;
  /**
   * Pass it on as `cursor` for the next page; null on the last one.
   */
  next_cursor: string | null;
}
export interface Alerts {
  /**
   * Null: none was set.
   */
  webhook: Webhook | null;
}
export interface TestSent {
  event_id: string;
  type: 'transcription.completed' | 'transcription.failed' | 'webhook.test';
}
export interface DeliveryList {
  data: Delivery[];
  has_more: boolean;
  /**
   * Pass it on as `cursor` for the next page; null on the last one.
   */
  next_cursor: string | null;
}
export interface DeliveryWithExchange {
  id: string;
  webhook_id: string;
  event_id: string;
  event_type:
    'transcription.completed' | 'transcription.failed' | 'webhook.test' | 'webhook.disabled' | 'webhook.exhausted';
  /**
   * Null when the webhook is deleted and the attempt was never made.
   */
  url: string | null;
  /**
   * 1 to 4.
   */
  attempt: number;
  status: 'succeeded' | 'failed' | 'pending' | 'dropped';
  /**
   * The status line of the answer; null when none came.
   */
  response_status: number | null;
  error: {
    reason:
      'http_status' | 'redirect' | 'timeout' | 'dns' | 'forbidden_address' | 'connect' | 'tls' | 'reset' | 'protocol';
    message: string;
  } | null;
  /**
   * From the start of name resolution to the end of the attempt.
   */
  duration_ms: number | null;
  timings: {
    /**
     * Name resolution.
     */
    dns_ms: number | null;
    /**
     * TCP. Null for a phase that did not end, and on a connection that is used again.
     */
    connect_ms: number | null;
    /**
     * TLS.
     */
    tls_ms: number | null;
    /**
     * Up to the first byte of the answer.
     */
    first_byte_ms: number | null;
    /**
     * Whether the request was sent on the connection of an earlier attempt: connect_ms and tls_ms are null.
     */
    reused: boolean;
  };
  created_at: string;
  completed_at: string | null;
  next_attempt_at: string | null;
  /**
   * The address that was connected to.
   */
  remote_address: string | null;
  /**
   * As it was sent; null when nothing was.
   */
  request: {
    headers: {};
    body: string | null;
  } | null;
  /**
   * The headers and the first 4 KiB of the body; null when none came.
   */
  response: {
    headers: {};
    body: string;
  } | null;
}
export interface Redelivered {
  event_id: string;
}
export interface RedeliveredMany {
  /**
   * How many events are sent again; each of them once.
   */
  events: number;
}
export interface Recovered {
  /**
   * How many events are sent again, or would be.
   */
  events: number;
  /**
   * Only where more than 100,000 events lie in that time: ask again with this as since.
   */
  next_since?: string;
}
export interface WebhookMetricsInterval {
  start: string;
  /**
   * Attempts that ended in this time: succeeded and failed ones.
   */
  attempts: number;
  succeeded: number;
  failed: number;
  /**
   * Attempts that were never made, because the webhook was disabled or deleted, or the job erased.
   */
  dropped: number;
  /**
   * How many attempts failed for each reason; without those that did not occur.
   */
  reasons: {
    http_status?: number;
    redirect?: number;
    timeout?: number;
    dns?: number;
    forbidden_address?: number;
    connect?: number;
    tls?: number;
    reset?: number;
    protocol?: number;
  };
  /**
   * Median duration of the attempts; null without any.
   */
  p50_ms: number | null;
  /**
   * 95 % of the attempts took at most this time.
   */
  p95_ms: number | null;
  /**
   * Deliveries that waited or were under way at the end of this time, or now in the current one.
   */
  waiting: number;
}
export interface WebhookMetrics {
  bucket: 'minute' | 'hour' | 'day';
  from: string;
  to: string;
  /**
   * The time holds too many attempts to be read: the oldest buckets are left out.
   */
  truncated: boolean;
  /**
   * Every bucket of the time, oldest first, in UTC.
   */
  data: WebhookMetricsInterval[];
}
export interface SignatureDiagnosis {
  /**
   * The first cause; genuine: the signature, body and time fit.
   */
  verdict:
    | 'genuine'
    | 'missing_header'
    | 'header_twice'
    | 'wrong_header_prefix'
    | 'signature_reformatted'
    | 'bad_timestamp'
    | 'stale_timestamp'
    | 'clock_skew'
    | 'secret_whitespace'
    | 'secret_prefix_cut'
    | 'secret_decoded'
    | 'wrong_scheme'
    | 'body_parsed'
    | 'body_empty'
    | 'body_whitespace'
    | 'body_bom'
    | 'body_double_encoded'
    | 'body_charset'
    | 'body_base64'
    | 'body_compressed'
    | 'previous_secret'
    | 'secret_of_another_webhook'
    | 'body_changed_at'
    | 'body_truncated'
    | 'header_changed_by_proxy'
    | 'wrong_secret'
    | 'unexplained';
  /**
   * All causes, the one to look at first in front.
   */
  causes: (
    | 'genuine'
    | 'missing_header'
    | 'header_twice'
    | 'wrong_header_prefix'
    | 'signature_reformatted'
    | 'bad_timestamp'
    | 'stale_timestamp'
    | 'clock_skew'
    | 'secret_whitespace'
    | 'secret_prefix_cut'
    | 'secret_decoded'
    | 'wrong_scheme'
    | 'body_parsed'
    | 'body_empty'
    | 'body_whitespace'
    | 'body_bom'
    | 'body_double_encoded'
    | 'body_charset'
    | 'body_base64'
    | 'body_compressed'
    | 'previous_secret'
    | 'secret_of_another_webhook'
    | 'body_changed_at'
    | 'body_truncated'
    | 'header_changed_by_proxy'
    | 'wrong_secret'
    | 'unexplained'
  )[];
  /**
   * What to do about the verdict, and how in the framework where that is known.
   */
  fix: string;
  /**
   * As it was given, or as the headers of the delivery and its answer name it.
   */
  framework:
    | (
        | 'express'
        | 'fastify'
        | 'nextjs'
        | 'hono'
        | 'lambda'
        | 'flask'
        | 'django'
        | 'fastapi'
        | 'rails'
        | 'laravel'
        | 'go'
        | 'spring'
        | 'aspnet'
      )
    | null;
  checks: {
    name: 'headers' | 'time' | 'signature' | 'body';
    result: 'ok' | 'wrong' | 'unknown';
    message: string;
    /**
     * What a delivery of the service has there.
     */
    expected: string;
    /**
     * What this one has there: a form, never a value.
     */
    found: string | null;
  }[];
  /**
   * Where the body differs from the one that was sent; null when it does not, or when that one is no longer kept.
   */
  difference: {
    /**
     * Position of the first byte that differs.
     */
    at: number;
    /**
     * Up to 20 bytes on each side of it; control characters as escapes.
     */
    sent: string;
    received: string;
    sent_bytes: number;
    received_bytes: number;
    kind: 'whitespace' | 'bom' | 'charset' | 'reordered' | 'escaped' | 'number_precision' | 'truncated' | 'changed';
  } | null;
}
export interface Event {
  id: string;
  type: 'transcription.completed' | 'transcription.failed' | 'webhook.test' | 'webhook.disabled' | 'webhook.exhausted';
  job_id: string | null;
  created_at: string;
}
export interface EventList {
  data: Event[];
  has_more: boolean;
  /**
   * Pass it on as `cursor` for the next page; null on the last one.
   */
  next_cursor: string | null;
}
export interface EventWithDeliveries {
  id: string;
  type: 'transcription.completed' | 'transcription.failed' | 'webhook.test' | 'webhook.disabled' | 'webhook.exhausted';
  job_id: string | null;
  created_at: string;
  /**
   * The body as it is sent to webhooks.
   */
  payload: {};
  deliveries: Delivery[];
}
export interface EventTypeList {
  data: {
    type: 'transcription.completed' | 'transcription.failed' | 'webhook.test';
    /**
     * When it is emitted.
     */
    description: string;
    /**
     * JSON Schema of the body.
     */
    schema: {
      [k: string]: unknown;
    };
    /**
     * A body.
     */
    example: {
      [k: string]: unknown;
    };
  }[];
}
export interface Account {
  id: string;
  name: string;
  plan: 'lite' | 'pro';
  balance: Balance;
  /**
   * Since then its keys are refused and its deliveries wait; null: it is not suspended.
   */
  suspended_at: string | null;
  created_at: string;
}
export interface AccountList {
  data: Account[];
  has_more: boolean;
  /**
   * Pass it on as `cursor` for the next page; null on the last one.
   */
  next_cursor: string | null;
}
export interface AccountErasure {
  id: string;
  status: 'erasing';
}
export interface PortalLink {
  /**
   * Opens the console; relative to the address of the service unless PUBLIC_URL names it. Shown only here.
   */
  url: string;
  /**
   * The key behind the link: deleting it ends the link, and the keys that were made by way of it.
   */
  key_id: string;
  scopes: ('jobs:read' | 'jobs:write' | 'webhooks:read' | 'webhooks:write' | 'usage:read' | 'keys:write')[];
  expires_at: string;
}
export interface Operator {
  id: string;
  name: string;
  email: string;
}
export interface OperatorList {
  data: Operator[];
  has_more: boolean;
  /**
   * Pass it on as `cursor` for the next page; null on the last one.
   */
  next_cursor: string | null;
}
export interface Overview {
  now: string;
  version: string;
  accounts: number;
  jobs: {
    queued: number;
    processing: number;
    oldest_queued_seconds: number;
  };
  deliveries: {
    /**
     * Those under way included.
     */
    due: number;
    oldest_due_seconds: number;
  };
  webhooks: {
    active: number;
    disabled: number;
  };
  nodes: {
    /**
     * Reported themselves within 30 s.
     */
    alive: number;
    /**
     * Of those alive.
     */
    not_ready: number;
  };
  /**
   * Of each plan, as a transcriber reported it last.
   */
  engines: {
    plan: 'lite' | 'pro';
    engine: string;
    /**
     * Null: any.
     */
    languages: string[] | null;
    features: ('words' | 'confidence' | 'prompt' | 'keywords' | 'translate' | 'diarize')[];
    /**
     * Null when unknown.
     */
    licence: string | null;
  }[];
  /**
   * The plans whose jobs wait for more than their turn.
   */
  waits: {
    plan: 'lite' | 'pro';
    /**
     * What every transcriber lacks for the plan.
     */
    waiting_for: 'engine' | 'storage' | 'model';
    since: string;
    /**
     * Queued jobs of the plan.
     */
    jobs: number;
  }[];
}
export interface Node {
  id: string;
  host: string;
  version: string;
  roles: string[];
  /**
   * It reported itself within the last 30 s.
   */
  alive: boolean;
  ready: boolean;
  /**
   * Why it is not ready.
   */
  reasons: string[];
  started_at: string;
  seen_at: string;
}
export interface NodeList {
  data: Node[];
}
/**
 * A job without anything that its account sent or was given.
 */
export interface JobSummary {
  id: string;
  account_id: string;
  status: 'queued' | 'processing' | 'completed' | 'failed' | 'canceled';
  plan: 'lite' | 'pro';
  model: string | null;
  duration_seconds: number | null;
  size_bytes: number | null;
  progress: number;
  attempts: number;
  /**
   * The process that works on it, or did so last: `<node>/<process>`.
   */
  holder: string | null;
  error_type:
    ('unprocessable_audio' | 'insufficient_balance' | 'engine_error' | 'engine_timeout' | 'audio_fetch_failed') | null;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
}
export interface JobSummaryList {
  data: JobSummary[];
  has_more: boolean;
  /**
   * Pass it on as `cursor` for the next page; null on the last one.
   */
  next_cursor: string | null;
}
export interface AccountWebhook {
  id: string;
  /**
   * Only of the webhook of one job, which gets the events of this job alone and is in no list.
   */
  job_id?: string;
  url: string;
  events: ('transcription.completed' | 'transcription.failed' | 'webhook.test')[];
  description: string | null;
  /**
   * Names of its custom headers. Their values are never shown.
   */
  headers: string[];
  /**
   * How many requests may be sent in a second; null: no limit.
   */
  max_per_second: number | null;
  /**
   * The parts of a job that its deliveries have; for another, the job has `text_omitted` or `segments_omitted`.
   */
  include: ('text' | 'segments')[];
  active: boolean;
  disabled_reason: ('manual' | 'consecutive_failures') | null;
  disabled_at: string | null;
  /**
   * Failed attempts since the last one that succeeded.
   */
  consecutive_failures: number;
  failing_since: string | null;
  /**
   * Until then the secret before the last rotation signs too. May be past; null: no overlap was asked for.
   */
  previous_secret_ends_at: string | null;
  created_at: string;
  updated_at: string;
  account_id: string;
}
export interface AccountWebhookList {
  data: AccountWebhook[];
  has_more: boolean;
  /**
   * Pass it on as `cursor` for the next page; null on the last one.
   */
  next_cursor: string | null;
}
export interface CatalogueModel {
  name: string;
  title: string;
  family: string;
  size_bytes: number;
  /**
   * Of one engine process, about.
   */
  memory_mb: number;
  languages: string[];
  licence: string;
  attribution: string;
  advice: string;
  /**
   * Published word error rate; null for models that transcribe nothing, or without a figure.
   */
  wer: {
    percent: number;
    test_set: string;
    source: string;
    /**
     * The figure was compared with its source.
     */
    checked: boolean;
  } | null;
  /**
   * On the node that answers.
   */
  pulled: boolean;
}
export interface ModelPull {
  model: string;
  status: 'running' | 'completed' | 'canceled' | 'failed';
  done_bytes: number;
  total_bytes: number;
  message: string | null;
  started_at: string;
  ended_at: string | null;
}
export interface CatalogueModelList {
  data: CatalogueModel[];
  /**
   * Folders of DATA_DIR/models that are not in the catalogue.
   */
  others: string[];
  engines: {
    plan: 'lite' | 'pro';
    engine: string;
    /**
     * Null: any.
     */
    languages: string[] | null;
    features: ('words' | 'confidence' | 'prompt' | 'keywords' | 'translate' | 'diarize')[];
    /**
     * Null when unknown.
     */
    licence: string | null;
  }[];
  /**
   * The node that answers.
   */
  node: {
    /**
     * Name of the machine.
     */
    host: string;
    /**
     * Models are pulled onto nodes that do.
     */
    transcribes: boolean;
  };
  pull: ModelPull | null;
}
export interface Setting {
  name: string;
  /**
   * As the setting is written; lists as arrays.
   */
  value: unknown;
  is_default: boolean;
  /**
   * Then the value is `(hidden)`, or null when it is not set.
   */
  is_secret: boolean;
  meaning: string;
}
export interface SettingList {
  data: Setting[];
}
export interface WebhooksRecovered {
  /**
   * Webhooks that missed events, or were enabled.
   */
  webhooks: number;
  /**
   * Webhooks that were enabled.
   */
  enabled: number;
  /**
   * Deliveries that are sent, or would be.
   */
  events: number;
}
export interface JobsRetried {
  /**
   * New jobs, or those that would be made.
   */
  jobs: number;
  skipped: {
    /**
     * Jobs whose audio is no longer stored.
     */
    audio_gone: number;
    /**
     * Jobs that the balance of their account does not cover.
     */
    insufficient_balance: number;
    /**
     * Jobs of accounts that were deleted.
     */
    account_gone: number;
  };
  /**
   * Only where more than 500 jobs ended so: ask again with this as failed_since or completed_since.
   */
  next_since?: string;
}
export interface AuditEntry {
  id: string;
  created_at: string;
  /**
   * operator: the token of the operator; user: a session of a user.
   */
  actor: {
    type: 'operator' | 'user' | 'key';
    key_id: string | null;
    user_id: string | null;
    /**
     * Of the user or the key now; null when it is gone, or has none.
     */
    name: string | null;
  };
  /**
   * The peer of the connection; a proxy, where one is in front of the service.
   */
  address: string;
  action:
    | 'account.created'
    | 'account.changed'
    | 'account.suspended'
    | 'account.resumed'
    | 'account.deleted'
    | 'credits.added'
    | 'user.joined'
    | 'user.changed'
    | 'user.deleted'
    | 'invitation.created'
    | 'invitation.deleted'
    | 'key.created'
    | 'key.deleted'
    | 'webhook.created'
    | 'webhook.changed'
    | 'webhook.deleted'
    | 'webhook.secret_rotated'
    | 'share.created'
    | 'share.deleted'
    | 'secrets.rotated'
    | 'webhooks.recovered'
    | 'jobs.retried'
    | 'model.pulled'
    | 'model.pull_canceled'
    | 'session.created'
    | 'session.ended'
    | 'sign_in.failed'
    | 'admin_token.refused'
    | 'job.deleted'
    | 'transcript.edited'
    | 'audio_link.created'
    | 'client_secret.created'
    | 'list.exported';
  /**
   * The account that was changed; empty when all were.
   */
  account_id: string;
  /**
   * The account, key, user, invitation, webhook or ledger entry.
   */
  target_id: string;
  /**
   * The present name of a user or a key; null for others.
   */
  target_name: string | null;
  /**
   * Names of changed fields, plan, amount, scopes.
   */
  details: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^.*$".
     */
    [k: string]: unknown;
  };
  request_id: string;
}
export interface AuditList {
  data: AuditEntry[];
  has_more: boolean;
  /**
   * Pass it on as `cursor` for the next page; null on the last one.
   */
  next_cursor: string | null;
}
export interface SecretsRotation {
  /**
   * Webhooks whose secrets and headers were sealed anew by this request.
   */
  rotated: number;
  /**
   * Webhooks whose secrets or headers no listed key opens; they stay as they are.
   */
  unreadable: number;
  /**
   * Where the next request goes on; null at the end.
   */
  next_cursor: string | null;
  /**
   * At the end: webhooks whose secrets or headers are not sealed by the first key.
   */
  remaining: number | null;
}
export interface JobInEvent {
  id: string;
  status: 'queued' | 'processing' | 'completed' | 'failed' | 'canceled';
  /**
   * What a queued job waits for beside its turn; it does not fail meanwhile.
   */
  waiting_for: ('engine' | 'storage' | 'model') | null;
  /**
   * While `waiting_for` is not null.
   */
  waiting_since?: string;
  plan: 'lite' | 'pro';
  model: string | null;
  /**
   * The spoken language.
   */
  language: string | null;
  /**
   * The language of the text, where a translation was asked for; null until completed.
   */
  translated_to: 'en' | null;
  audio: {
    filename: string | null;
    /**
     * Null until audio from a URL is stored; likewise length and size.
     */
    format: string | null;
    duration_seconds: number | null;
    size_bytes: number | null;
    /**
     * Origin and path of audio_url; null for an upload.
     */
    source: string | null;
    /**
     * Of the audio track that is transcribed; null while it is unknown.
     */
    channels: number | null;
    /**
     * The audio tracks of the file; empty while they are unknown.
     *
     * @maxItems 32
     */
    tracks: AudioTrack[];
  };
  /**
   * Any JSON value, as the request carried it, unchanged; null without it.
   */
  metadata: unknown;
  options: JobOptions;
  /**
   * Null until completed.
   */
  text?: string | null;
  /**
   * Null until completed.
   */
  segments?: Segment[] | null;
  /**
   * The segments were left out, because the body would be over 256 KiB.
   */
  segments_omitted?: boolean;
  /**
   * The text was left out too, because the body would still be over 1 MiB.
   */
  text_omitted?: boolean;
  /**
   * The job was erased since.
   */
  deleted?: boolean;
  /**
   * In the order of their first words. Null unless asked for with diarize, until completed, and where they were not found.
   */
  speakers: Speaker[] | null;
  /**
   * Empty when there are none, and until the job has ended.
   */
  warnings: Warning[];
  error: {
    type: 'unprocessable_audio' | 'insufficient_balance' | 'engine_error' | 'engine_timeout' | 'audio_fetch_failed';
    message: string;
    /**
     * With audio_fetch_failed.
     */
    reason?: 'dns' | 'connect' | 'tls' | 'timeout' | 'http_status' | 'redirect' | 'forbidden_address' | 'too_large';
    /**
     * With audio_fetch_failed: what the server of the audio answered.
     */
    http_status?: number;
  } | null;
  /**
   * Credits; null until known.
   */
  cost: number | null;
  progress: number;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
  /**
   * From when on the job is erased; null without delete_after_seconds, and until it has ended.
   */
  expires_at: string | null;
}
/**
 * A job ended with a transcript. Synchronous requests emit it too.
 */
export interface TranscriptionCompleted {
  id: string;
  type: 'transcription.completed';
  created_at: string;
  /**
   * As the request carried it; absent without it.
   */
  metadata?: unknown;
  data: {
    job: JobInEvent;
  };
}
/**
 * A job ended without a transcript; `data.job.error` has the reason.
 */
export interface TranscriptionFailed {
  id: string;
  type: 'transcription.failed';
  created_at: string;
  /**
   * As the request carried it; absent without it.
   */
  metadata?: unknown;
  data: {
    job: JobInEvent;
  };
}
/**
 * A test of a webhook was requested. It is sent to that webhook only.
 */
export interface WebhookTest {
  id: string;
  type: 'webhook.test';
  created_at: string;
  data: {
    webhook: Webhook;
  };
}
export interface AlertedWebhook {
  id: string;
  url: string;
  active: boolean;
  disabled_reason: ('manual' | 'consecutive_failures') | null;
  disabled_at: string | null;
  /**
   * Failed attempts since the last one that succeeded.
   */
  consecutive_failures: number;
  failing_since: string | null;
}
/**
 * A webhook was disabled after failed attempts.
 */
export interface WebhookDisabled {
  id: string;
  type: 'webhook.disabled';
  created_at: string;
  data: {
    webhook: AlertedWebhook;
  };
}
/**
 * A delivery has used up its attempts. At most once an hour for a webhook.
 */
export interface WebhookExhausted {
  id: string;
  type: 'webhook.exhausted';
  created_at: string;
  data: {
    webhook: AlertedWebhook;
    delivery: {
      id: string;
      event_id: string;
      event_type:
        'transcription.completed' | 'transcription.failed' | 'webhook.test' | 'webhook.disabled' | 'webhook.exhausted';
      /**
       * 1 to 4.
       */
      attempt: number;
      /**
       * Why the last attempt failed.
       */
      reason:
        | (
            | 'http_status'
            | 'redirect'
            | 'timeout'
            | 'dns'
            | 'forbidden_address'
            | 'connect'
            | 'tls'
            | 'reset'
            | 'protocol'
          )
        | null;
      /**
       * The status line of the answer; null when none came.
       */
      response_status: number | null;
    };
  };
}
export interface GetJobsQuery {
  /**
   * How many rows at most.
   */
  limit?: number;
  /**
   * `next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque.
   */
  cursor?: string;
  status?: 'queued' | 'processing' | 'completed' | 'failed' | 'canceled';
  plan?: 'lite' | 'pro';
  /**
   * Jobs created later than this time, or day in UTC.
   */
  created_after?: string;
  /**
   * Jobs created earlier.
   */
  created_before?: string;
  /**
   * A part of the title or of the file name, in upper or lower case; or an id, or its first 12 characters or more.
   */
  query?: string;
  /**
   * Jobs with this tag.
   */
  tag?: string;
  /**
   * As `metadata[key]=value`: jobs whose metadata is an object with this string, number or boolean at its top level, compared as text.
   */
  metadata?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^.*$".
     */
    [k: string]: string;
  };
}
export interface GetJobsIdQuery {
  /**
   * Seconds: the answer comes when the job has ended, or after this time with the job as it is then.
   */
  wait?: number;
}
export interface PatchJobsIdBody {
  /**
   * A name of your own for the job: one line. null: none.
   */
  title?: string | null;
  /**
   * Words of your own, by which jobs are listed: `GET /v1/jobs?tag=`. Duplicates are folded.
   *
   * @maxItems 10
   */
  tags?: string[];
  /**
   * Any JSON value, at most 4096 bytes as it is written; its text comes back unchanged. null: none.
   */
  metadata?: unknown;
}
export interface GetJobsIdTranscriptQuery {
  format?: 'json' | 'text' | 'srt' | 'vtt' | 'md' | 'docx' | 'pdf';
  /**
   * edited: the original where nothing was edited.
   */
  version?: 'edited' | 'original';
  /**
   * Characters of a line. With srt and vtt; 42 where another of these is given.
   */
  max_line_length?: number;
  /**
   * Lines of a caption. With srt and vtt; 2 where another of these is given.
   */
  max_lines?: number;
  /**
   * Seconds. With srt and vtt; 0.833 where another of these is given.
   */
  min_duration?: number;
  /**
   * Seconds. With srt and vtt; 7 where another of these is given.
   */
  max_duration?: number;
  /**
   * Reading speed. With srt and vtt; 20 where another of these is given.
   */
  max_chars_per_second?: number;
  /**
   * Seconds between two captions. With srt and vtt; 0.083 where another of these is given.
   */
  min_gap?: number;
  /**
   * Whether srt and vtt show who speaks, for jobs with diarize=true or multichannel=true. Absent: where speakers were named. Documents show it unless false.
   */
  speakers?: 'true' | 'false';
}
export interface PatchJobsIdTranscriptBody {
  /**
   * The segments to change; all others stay as they are.
   *
   * @minItems 1
   * @maxItems 500
   */
  segments?: {
    /**
     * Which segment, from 0.
     */
    index: number;
    /**
     * The new text; null: the original one again.
     */
    text: string | null;
  }[];
  /**
   * Names for speakers, by their labels; null: the label again. All others stay as they are.
   */
  speakers?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^.*$".
     */
    [k: string]: string | null;
  };
  /**
   * Speakers to show as another one, by their labels: `{"B": "A"}` shows B as A; null: by itself again. All others stay as they are.
   */
  merged_speakers?: {
    /**
     * This interface was referenced by `undefined`'s JSON-Schema definition
     * via the `patternProperty` "^.*$".
     */
    [k: string]: string | null;
  };
}
export interface GetSearchQuery {
  /**
   * Words that stand near each other; `"phrase"` as it is written, `-not`, `or`.
   */
  q: string;
  /**
   * Transcripts in this language only.
   */
  language?: string;
  /**
   * Jobs created later than this time, or day in UTC.
   */
  created_after?: string;
  /**
   * Jobs created earlier.
   */
  created_before?: string;
  /**
   * How many rows at most.
   */
  limit?: number;
  /**
   * `next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque.
   */
  cursor?: string;
}
export interface PostJobsIdShareBody {
  /**
   * Seconds.
   */
  expires_in?: number;
}
export interface GetSharedTokenQuery {
  format?: 'json' | 'text' | 'srt' | 'vtt' | 'md' | 'docx' | 'pdf';
}
export interface GetJobsIdAudioQuery {
  /**
   * A copy that browsers play, as Ogg with Opus: one channel, at the times of the transcript. Absent: the original.
   */
  format?: 'opus';
}
export interface PostJobsIdAudioLinkBody {
  /**
   * Seconds.
   */
  expires_in?: number;
}
export interface GetAudioLinksLinkQuery {
  /**
   * A copy that browsers play, as Ogg with Opus: one channel, at the times of the transcript. Absent: the original.
   */
  format?: 'opus';
}
export interface GetJobsIdPeaksQuery {
  /**
   * At most this number; short audio has one per 10 ms.
   */
  points?: number;
}
export interface PostJobsIdRetryBody {
  /**
   * Absent: that of the first job.
   */
  plan?: 'lite' | 'pro';
}
export interface GetStreamQuery {
  /**
   * Separated by commas: events, jobs, deliveries. Absent: all that the key may read.
   */
  topics?: string;
  /**
   * Separated by commas: transcription.completed, transcription.failed, webhook.test, webhook.disabled, webhook.exhausted. Types of the events; absent: all.
   */
  types?: string;
  /**
   * `now` (the default), the id of the last event that you have, or a time.
   */
  after?: string;
}
export interface PostLiveBody {
  /**
   * Default: the account's plan.
   */
  plan?: 'lite' | 'pro';
  /**
   * BCP 47 code such as en; absent: detected where the model can.
   */
  language?: string;
  /**
   * JSON, or a string that contains it; at most 4,096 bytes of UTF-8; its text comes back unchanged.
   */
  metadata?:
    | (string | {} | unknown[])
    | {
        [k: string]: unknown;
      }
    | unknown[];
  /**
   * A name of your own for the job: one line. Lists are searched by it, and documents and downloads have it.
   */
  title?: string;
  /**
   * Words of your own, by which jobs are listed: `GET /v1/jobs?tag=`. Duplicates are folded.
   *
   * @maxItems 10
   */
  tags?: string[];
  timestamps?: 'segment' | 'word';
  /**
   * Context for the engine, such as the subject or a text in the wanted style.
   */
  prompt?: string;
  /**
   * Words that the engine should know, each of at most 6 words; letters, digits, spaces, ' - and a full stop.
   *
   * @maxItems 100
   */
  keywords?: string[];
  replacements?:
    | {
        from: string;
        to: string;
      }[]
    | string;
  /**
   * The job is erased this many seconds after its end, once its deliveries have ended; at most JOB_RETENTION_DAYS.
   */
  delete_after_seconds?: number;
  encoding?: 'pcm_s16le' | 'mulaw' | 'alaw';
  sample_rate?: 8000 | 16000 | 24000 | 32000 | 44100 | 48000;
  /**
   * Send the words of the open segment.
   */
  partials?: boolean;
  /**
   * Silence that ends a segment, from 100; 0: none does.
   */
  endpointing_ms?: number;
  max_segment_seconds?: number;
  /**
   * How long a session waits for a client that was cut off.
   */
  resume_seconds?: number;
  /**
   * The session finishes after this time without audio.
   */
  idle_seconds?: number;
  /**
   * Not offered for live sessions: a 400, but for false.
   */
  translate_to?: unknown;
  /**
   * Not offered for live sessions: a 400, but for false.
   */
  diarize?: unknown;
  /**
   * Not offered for live sessions: a 400, but for false.
   */
  speakers?: unknown;
  /**
   * Not offered for live sessions: a 400, but for false.
   */
  min_speakers?: unknown;
  /**
   * Not offered for live sessions: a 400, but for false.
   */
  max_speakers?: unknown;
  /**
   * Not offered for live sessions: a 400, but for false.
   */
  multichannel?: unknown;
  /**
   * Not offered for live sessions: a 400, but for false.
   */
  audio_track?: unknown;
}
export interface PostRealtimeClientSecretsBody {
  expires_after?: {
    anchor?: 'created_at';
    seconds?: number;
  };
  /**
   * As in `session.update`.
   */
  session?: {};
}
export interface GetLedgerQuery {
  /**
   * How many rows at most.
   */
  limit?: number;
  /**
   * `next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque.
   */
  cursor?: string;
}
export interface GetUsageQuery {
  /**
   * The first time, or day in UTC; by default a day, 30 days or a year before `to`.
   */
  from?: string;
  /**
   * The time up to which; by default now.
   */
  to?: string;
  /**
   * In UTC. At most 7 days of hours, 366 of days, 1830 of months.
   */
  bucket?: 'hour' | 'day' | 'month';
  /**
   * One row for each in a bucket.
   */
  group_by?: 'plan' | 'model' | 'key';
}
export interface GetKeysQuery {
  /**
   * How many rows at most.
   */
  limit?: number;
  /**
   * `next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque.
   */
  cursor?: string;
}
export interface PostKeysBody {
  name?: string | null;
  /**
   * Empty: all. `jobs:read`: read jobs, their transcripts, stored audio and event streams; `jobs:write`: transcribe audio; retry, cancel and erase jobs; edit transcripts; with jobs:read, share them by links; `webhooks:read`: read webhooks, events and the delivery log; `webhooks:write`: create, change, test and delete webhooks, rotate their secrets, redeliver and recover events; `usage:read`: read the balance, the ledger and the usage; `keys:write`: list, create and delete the account's keys.
   *
   * @maxItems 100
   */
  scopes?: ('jobs:read' | 'jobs:write' | 'webhooks:read' | 'webhooks:write' | 'usage:read' | 'keys:write')[];
  /**
   * ISO 8601 time from which the key is refused; null: never.
   */
  expires_at?: string | null;
}
export interface PostSignInBody {
  email: string;
  password: string;
}
export interface PostSetupBody {
  token: string;
  name: string;
  email: string;
  password: string;
  account_name?: string;
}
export interface PatchMeBody {
  name?: string;
  password?: string;
  current_password?: string;
}
export interface PostMeAccountBody {
  account_id: string;
}
export interface GetUsersQuery {
  /**
   * How many rows at most.
   */
  limit?: number;
  /**
   * `next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque.
   */
  cursor?: string;
}
export interface PatchUsersIdBody {
  /**
   * `owner`: everything in the account: also its users, invitations, and all keys; `member`: jobs, webhooks, usage, and keys of their own; `viewer`: reading jobs, webhooks, events and usage
   */
  role: 'owner' | 'member' | 'viewer';
}
export interface GetInvitationsQuery {
  /**
   * How many rows at most.
   */
  limit?: number;
  /**
   * `next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque.
   */
  cursor?: string;
}
export interface PostInvitationsBody {
  /**
   * `owner`: everything in the account: also its users, invitations, and all keys; `member`: jobs, webhooks, usage, and keys of their own; `viewer`: reading jobs, webhooks, events and usage
   */
  role: 'owner' | 'member' | 'viewer';
  email?: string | null;
}
export interface PostInvitationsOpenBody {
  token: string;
}
export interface PostInvitationsAcceptBody {
  token: string;
  email: string;
  password: string;
  name?: string;
}
export interface PostMeInvitationsBody {
  token: string;
}
export interface PostSignInOidcBody {
  invitation?: string;
  setup?: string;
}
export interface PostWebhooksBody {
  /**
   * https, port 443, a public address. Every spelling that a URL parser knows is accepted.
   */
  url: string;
  /**
   * Duplicates are folded.
   *
   * @minItems 1
   * @maxItems 100
   */
  events: ('transcription.completed' | 'transcription.failed' | 'webhook.test')[];
  description?: string | null;
  /**
   * Custom headers of the deliveries: at most 10, 4 KiB together, printable ASCII, under names that neither the service nor HTTP uses. They replace those before; null or {} removes them. Stored encrypted; only their names are shown.
   */
  headers?: {
    [k: string]: string;
  } | null;
  /**
   * How many requests may be sent in a second. The others wait, and are not counted as attempts. null: no limit.
   */
  max_per_second?: number | null;
  /**
   * The parts of a job that the deliveries have, both by default. [] leaves out both; duplicates are folded.
   *
   * @maxItems 10
   */
  include?: ('text' | 'segments')[];
}
export interface GetWebhooksQuery {
  /**
   * How many rows at most.
   */
  limit?: number;
  /**
   * `next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque.
   */
  cursor?: string;
}
export interface PatchWebhooksIdBody {
  /**
   * https, port 443, a public address. Every spelling that a URL parser knows is accepted.
   */
  url?: string;
  /**
   * Duplicates are folded.
   *
   * @minItems 1
   * @maxItems 100
   */
  events?: ('transcription.completed' | 'transcription.failed' | 'webhook.test')[];
  description?: string | null;
  /**
   * Custom headers of the deliveries: at most 10, 4 KiB together, printable ASCII, under names that neither the service nor HTTP uses. They replace those before; null or {} removes them. Stored encrypted; only their names are shown.
   */
  headers?: {
    [k: string]: string;
  } | null;
  /**
   * How many requests may be sent in a second. The others wait, and are not counted as attempts. null: no limit.
   */
  max_per_second?: number | null;
  /**
   * The parts of a job that the deliveries have, both by default. [] leaves out both; duplicates are folded.
   *
   * @maxItems 10
   */
  include?: ('text' | 'segments')[];
  active?: boolean;
}
export interface PostWebhooksIdRotateSecretBody {
  overlap_seconds?: number;
}
export interface PostAlertsBody {
  /**
   * https, port 443, a public address. Every spelling that a URL parser knows is accepted.
   */
  url: string;
}
export interface PatchAlertsBody {
  /**
   * https, port 443, a public address. Every spelling that a URL parser knows is accepted.
   */
  url?: string;
  description?: string | null;
  /**
   * Custom headers of the deliveries: at most 10, 4 KiB together, printable ASCII, under names that neither the service nor HTTP uses. They replace those before; null or {} removes them. Stored encrypted; only their names are shown.
   */
  headers?: {
    [k: string]: string;
  } | null;
  /**
   * How many requests may be sent in a second. The others wait, and are not counted as attempts. null: no limit.
   */
  max_per_second?: number | null;
  active?: boolean;
}
export interface PostWebhooksIdTestBody {
  /**
   * Default: webhook.test.
   */
  type?: 'transcription.completed' | 'transcription.failed' | 'webhook.test';
}
export interface GetDeliveriesQuery {
  /**
   * How many rows at most.
   */
  limit?: number;
  /**
   * `next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque.
   */
  cursor?: string;
  status?: 'succeeded' | 'failed' | 'pending' | 'dropped';
  event_type?:
    'transcription.completed' | 'transcription.failed' | 'webhook.test' | 'webhook.disabled' | 'webhook.exhausted';
  event_id?: string;
  /**
   * Attempts of this job's event, to its own webhook and to all others.
   */
  job_id?: string;
  webhook_id?: string;
  /**
   * Why the attempt failed: `error.reason`.
   */
  reason?:
    'http_status' | 'redirect' | 'timeout' | 'dns' | 'forbidden_address' | 'connect' | 'tls' | 'reset' | 'protocol';
  /**
   * Of the answer's status; entries without an answer are left out.
   */
  status_class?: '2xx' | '3xx' | '4xx' | '5xx';
  attempt?: number;
  after?: string;
  before?: string;
}
export interface GetWebhooksIdDeliveriesQuery {
  /**
   * How many rows at most.
   */
  limit?: number;
  /**
   * `next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque.
   */
  cursor?: string;
  status?: 'succeeded' | 'failed' | 'pending' | 'dropped';
  event_type?:
    'transcription.completed' | 'transcription.failed' | 'webhook.test' | 'webhook.disabled' | 'webhook.exhausted';
  event_id?: string;
  /**
   * Attempts of this job's event, to its own webhook and to all others.
   */
  job_id?: string;
  webhook_id?: string;
  /**
   * Why the attempt failed: `error.reason`.
   */
  reason?:
    'http_status' | 'redirect' | 'timeout' | 'dns' | 'forbidden_address' | 'connect' | 'tls' | 'reset' | 'protocol';
  /**
   * Of the answer's status; entries without an answer are left out.
   */
  status_class?: '2xx' | '3xx' | '4xx' | '5xx';
  attempt?: number;
  after?: string;
  before?: string;
}
export interface PostWebhooksIdRedeliverBody {
  /**
   * Ids of the webhook's delivery log.
   *
   * @minItems 1
   * @maxItems 100
   */
  delivery_ids: string[];
}
export interface PostWebhooksIdRecoverBody {
  since: string;
  until?: string;
  /**
   * Only events of this type.
   */
  event_type?:
    'transcription.completed' | 'transcription.failed' | 'webhook.test' | 'webhook.disabled' | 'webhook.exhausted';
  /**
   * Only events whose newest entry in the webhook's log has this status; none: those that were never sent to it.
   */
  status?: 'failed' | 'dropped' | 'none';
  /**
   * Count the events, and send none.
   */
  dry_run?: boolean;
}
export interface PostEventsIdResendBody {
  webhook_id: string;
}
export interface GetWebhooksIdMetricsQuery {
  from?: string;
  /**
   * Default: now.
   */
  to?: string;
  bucket?: 'minute' | 'hour' | 'day';
}
export interface PostWebhooksIdDiagnoseBody {
  headers: {
    [k: string]: string | string[];
  };
  body: string;
  /**
   * By the clock of your server. Without it the age of the delivery is not checked.
   */
  received_at?: string;
  /**
   * Of your server, for the fix.
   */
  framework?:
    | 'express'
    | 'fastify'
    | 'nextjs'
    | 'hono'
    | 'lambda'
    | 'flask'
    | 'django'
    | 'fastapi'
    | 'rails'
    | 'laravel'
    | 'go'
    | 'spring'
    | 'aspnet';
}
export interface GetEventsQuery {
  /**
   * How many rows at most.
   */
  limit?: number;
  /**
   * `next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque.
   */
  cursor?: string;
  type?: 'transcription.completed' | 'transcription.failed' | 'webhook.test' | 'webhook.disabled' | 'webhook.exhausted';
  /**
   * Events of this job.
   */
  job_id?: string;
}
export interface PostAdminAccountsBody {
  name: string;
  plan: 'lite' | 'pro';
  /**
   * What it can spend at first; null or absent: unlimited.
   */
  credits?: number | null;
}
export interface GetAdminAccountsQuery {
  /**
   * How many rows at most.
   */
  limit?: number;
  /**
   * `next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque.
   */
  cursor?: string;
  /**
   * Part of the name, in any case, or the beginning of the id.
   */
  query?: string;
}
export interface PatchAdminAccountsIdBody {
  name?: string;
  plan?: 'lite' | 'pro';
}
export interface PostAdminAccountsIdCreditsBody {
  /**
   * Credits; below zero to take away, even below what is there.
   */
  amount: number;
  note?: string | null;
}
export interface GetAdminAccountsIdLedgerQuery {
  /**
   * How many rows at most.
   */
  limit?: number;
  /**
   * `next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque.
   */
  cursor?: string;
}
export interface PostAdminAccountsIdKeysBody {
  name?: string | null;
  /**
   * Empty: all. `jobs:read`: read jobs, their transcripts, stored audio and event streams; `jobs:write`: transcribe audio; retry, cancel and erase jobs; edit transcripts; with jobs:read, share them by links; `webhooks:read`: read webhooks, events and the delivery log; `webhooks:write`: create, change, test and delete webhooks, rotate their secrets, redeliver and recover events; `usage:read`: read the balance, the ledger and the usage; `keys:write`: list, create and delete the account's keys.
   *
   * @maxItems 100
   */
  scopes?: ('jobs:read' | 'jobs:write' | 'webhooks:read' | 'webhooks:write' | 'usage:read' | 'keys:write')[];
  /**
   * ISO 8601 time from which the key is refused; null: never.
   */
  expires_at?: string | null;
}
export interface GetAdminAccountsIdKeysQuery {
  /**
   * How many rows at most.
   */
  limit?: number;
  /**
   * `next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque.
   */
  cursor?: string;
}
export interface PostAdminAccountsIdPortalLinksBody {
  /**
   * What the link permits.
   *
   * @minItems 1
   * @maxItems 100
   */
  scopes: ('jobs:read' | 'jobs:write' | 'webhooks:read' | 'webhooks:write' | 'usage:read' | 'keys:write')[];
  /**
   * Seconds.
   */
  expires_in?: number;
}
export interface PostAdminAccountsIdInvitationsBody {
  /**
   * `owner`: everything in the account: also its users, invitations, and all keys; `member`: jobs, webhooks, usage, and keys of their own; `viewer`: reading jobs, webhooks, events and usage
   */
  role: 'owner' | 'member' | 'viewer';
  email?: string | null;
  /**
   * Whether whoever accepts it becomes an operator of the service too.
   */
  operator?: boolean;
}
export interface GetAdminOperatorsQuery {
  /**
   * How many rows at most.
   */
  limit?: number;
  /**
   * `next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque.
   */
  cursor?: string;
}
export interface GetAdminUsageQuery {
  /**
   * acct_…
   */
  account_id: string;
  /**
   * The first time, or day in UTC; by default a day, 30 days or a year before `to`.
   */
  from?: string;
  /**
   * The time up to which; by default now.
   */
  to?: string;
  /**
   * In UTC. At most 7 days of hours, 366 of days, 1830 of months.
   */
  bucket?: 'hour' | 'day' | 'month';
  /**
   * One row for each in a bucket.
   */
  group_by?: 'plan' | 'model' | 'key';
}
export interface GetAdminJobsQuery {
  /**
   * How many rows at most.
   */
  limit?: number;
  /**
   * `next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque.
   */
  cursor?: string;
  status?: 'queued' | 'processing' | 'completed' | 'failed' | 'canceled';
  /**
   * Jobs of one account.
   */
  account_id?: string;
}
export interface GetAdminWebhooksQuery {
  /**
   * How many rows at most.
   */
  limit?: number;
  /**
   * `next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque.
   */
  cursor?: string;
  /**
   * false: only those that are disabled.
   */
  active?: boolean;
  /**
   * Webhooks of one account.
   */
  account_id?: string;
}
export interface PostAdminWebhooksRecoverBody {
  since: string;
  disabled_since?: string;
  /**
   * Count only, and change nothing.
   */
  dry_run?: boolean;
}
export interface PostAdminJobsRetryBody {
  failed_since?: string;
  /**
   * Jobs that failed with this error.
   */
  error_type?:
    'unprocessable_audio' | 'insufficient_balance' | 'engine_error' | 'engine_timeout' | 'audio_fetch_failed';
  /**
   * Jobs that completed with this warning.
   */
  warning?: 'untranscribed';
  /**
   * Beside `warning`; absent: since the oldest audio that is kept.
   */
  completed_since?: string;
  /**
   * Count only, and change nothing.
   */
  dry_run?: boolean;
}
export interface GetAdminAuditQuery {
  /**
   * How many rows at most.
   */
  limit?: number;
  /**
   * `next_cursor` of the page before, of this list with the same filters; absent for the newest. Opaque.
   */
  cursor?: string;
  /**
   * Changes of one account.
   */
  account_id?: string;
  action?:
    | 'account.created'
    | 'account.changed'
    | 'account.suspended'
    | 'account.resumed'
    | 'account.deleted'
    | 'credits.added'
    | 'user.joined'
    | 'user.changed'
    | 'user.deleted'
    | 'invitation.created'
    | 'invitation.deleted'
    | 'key.created'
    | 'key.deleted'
    | 'webhook.created'
    | 'webhook.changed'
    | 'webhook.deleted'
    | 'webhook.secret_rotated'
    | 'share.created'
    | 'share.deleted'
    | 'secrets.rotated'
    | 'webhooks.recovered'
    | 'jobs.retried'
    | 'model.pulled'
    | 'model.pull_canceled'
    | 'session.created'
    | 'session.ended'
    | 'sign_in.failed'
    | 'admin_token.refused'
    | 'job.deleted'
    | 'transcript.edited'
    | 'audio_link.created'
    | 'client_secret.created'
    | 'list.exported';
}
export interface PostAdminSecretsRotateBody {
  /**
   * `next_cursor` of the answer before; absent to begin. Opaque.
   */
  cursor?: string;
}

/** What a receiver is sent. */
export type AnyEvent = TranscriptionCompleted | TranscriptionFailed | WebhookTest | WebhookDisabled | WebhookExhausted;

/** Options of jobs that live sessions do not have. */
export type NotLiveOption = 'translate_to' | 'diarize' | 'speakers' | 'min_speakers' | 'max_speakers' | 'multichannel' | 'audio_track';
