import type { NotLiveOption, PostLiveBody } from '../../api.ts';

/** What a live session is asked for, in the names of the API. */
export type LiveParams = Omit<PostLiveBody, 'metadata' | NotLiveOption> & {
  /** Any JSON value of at most 4,096 bytes; it comes back with the job and in its events. */
  metadata?: unknown;
  /** The same as JSON text, in which numbers keep all their digits. */
  metadataText?: string | undefined;
};

/**
 * The words of the open segment so far; the first `stable` characters do not change any more.
 * Times in seconds of audio.
 */
export type LivePartial = {
  type: 'partial';
  index: number;
  start: number;
  end: number;
  text: string;
  stable: number;
};

/** A final segment; `seq` counts them from 1. */
export type LiveSegment = {
  type: 'segment';
  seq: number;
  index: number;
  start: number;
  end: number;
  text: string;
  confidence: number | null;
  /** Why it ended; `unknown` where only the job tells of it. */
  reason: 'endpoint' | 'max_length' | 'finalize' | 'finish' | 'unknown';
  /** With `timestamps: 'word'`. */
  words?: { start: number; end: number; text: string; confidence: number | null }[];
};

export type LiveWarning = {
  type: 'warning';
  code: 'balance_low' | 'session_ending' | 'segment_failed' | (string & {});
  message: string;
  seconds_left?: number;
  start?: number;
  end?: number;
};

/**
 * Bytes that did not fit into the buffer while the service was away, which count as silence; or the last ones, when the
 * job ended without them.
 */
export type LiveAudioLost = { type: 'audio_lost'; from: number; to: number };

/** What becomes known about a live session. */
export type LiveUpdate =
  | LivePartial
  | LiveSegment
  | LiveWarning
  | LiveAudioLost
  | { type: 'speech_started'; start: number };

/** What the service sends. */
export type ServerMessage =
  | LivePartial
  | LiveSegment
  | LiveWarning
  | { type: 'speech_started'; start: number }
  | { type: 'hello'; offset: number; resumed: boolean }
  | { type: 'ack'; offset: number }
  | { type: 'finalized'; id: string | null; offset: number }
  | { type: 'error'; error: { message: string } }
  | { type: 'going_away'; reconnect_after_ms: number }
  | { type: 'done'; seq: number };

/** The answer to POST /v1/live, as far as it is used. */
export type CreatedSession = {
  id: string;
  path: string;
  token: string;
  limits: { frame_bytes: number; resume_seconds: number };
};
