import { randomUUID } from 'node:crypto';
import type { LivePartial } from '../../engines/live/live-engine.ts';
import { joinWords } from '../../rules/text/word-places.ts';

type Item = { id: string; startSeconds: number; endSeconds: number; sent: string };

/**
 * The segments of a session as the items of a conversation, with the events that clients of OpenAI's API expect of
 * each.
 */
export class RealtimeItems {
  readonly #send: (event: object) => void;
  #open: Item | null = null;
  /** Committed, and not completed; oldest first. */
  readonly #ending: Item[] = [];
  #previousId: string | null = null;
  #hasVad = false;

  constructor(send: (event: object) => void) {
    this.#send = send;
  }

  /** Whether the start and the end of speech are reported. */
  useVad(hasVad: boolean): void {
    this.#hasVad = hasVad;
  }

  started(startSeconds: number): void {
    this.#open = newItem(startSeconds);
    if (!this.#hasVad) return;
    this.#send({
      type: 'input_audio_buffer.speech_started',
      audio_start_ms: milliseconds(startSeconds),
      item_id: this.#open.id,
    });
  }

  stopped(endSeconds: number): void {
    const item = this.#open!;
    this.#open = null;
    item.endSeconds = endSeconds;
    if (this.#hasVad) {
      const at = { audio_end_ms: milliseconds(endSeconds), item_id: item.id };
      this.#send({ type: 'input_audio_buffer.speech_stopped', ...at });
    }
    this.#commit(item);
    this.#ending.push(item);
  }

  /** Words that do not change any more are sent once: clients add them up. */
  partial({ words, stableWords }: LivePartial): void {
    const item = this.#open;
    if (item === null) return;
    const stable = joinWords(words.slice(0, stableWords));
    if (!stable.startsWith(item.sent) || stable === item.sent) return;
    this.#delta(item, stable.slice(item.sent.length));
  }

  /** The oldest segment that has ended has its text. */
  completed(transcript: string): void {
    const item = this.#ending.shift();
    if (item) this.#complete(item, transcript);
  }

  /** The engine failed on the segment that begins there; it is completed without text. */
  failed(startSeconds: number): void {
    const item = this.#ending.find((each) => each.startSeconds === startSeconds);
    if (!item) return;
    this.#send({
      type: 'conversation.item.input_audio_transcription.failed',
      item_id: item.id,
      content_index: 0,
      error: {
        type: 'server_error',
        code: 'engine_error',
        message: 'The engine failed on this part of the audio.',
        param: null,
      },
    });
  }

  /**
   * A commit without speech: clients take an error for the end of the session, so it has an item with an empty text.
   */
  commitNothing(): void {
    const item = newItem(0);
    this.#commit(item);
    this.#complete(item, '');
  }

  /** The open segment was given up. */
  cleared(): void {
    this.#open = null;
    this.#send({ type: 'input_audio_buffer.cleared' });
  }

  #commit(item: Item): void {
    this.#send({ type: 'input_audio_buffer.committed', item_id: item.id, previous_item_id: this.#previousId });
    this.#send({
      type: 'conversation.item.added',
      previous_item_id: this.#previousId,
      item: showItem(item, 'in_progress', null),
    });
    this.#previousId = item.id;
  }

  #complete(item: Item, transcript: string): void {
    if (transcript.startsWith(item.sent) && transcript !== item.sent)
      this.#delta(item, transcript.slice(item.sent.length));
    this.#send({
      type: 'conversation.item.input_audio_transcription.completed',
      item_id: item.id,
      content_index: 0,
      transcript,
      usage: { type: 'duration', seconds: milliseconds(item.endSeconds - item.startSeconds) / 1000 },
    });
    this.#send({ type: 'conversation.item.done', item: showItem(item, 'completed', transcript) });
  }

  #delta(item: Item, delta: string): void {
    item.sent += delta;
    this.#send({
      type: 'conversation.item.input_audio_transcription.delta',
      item_id: item.id,
      content_index: 0,
      delta,
    });
  }
}

function newItem(startSeconds: number): Item {
  return { id: `item_${randomUUID().replaceAll('-', '')}`, startSeconds, endSeconds: startSeconds, sent: '' };
}

function showItem({ id }: Item, status: string, transcript: string | null) {
  return {
    id,
    object: 'realtime.item',
    type: 'message',
    role: 'user',
    status,
    content: [{ type: 'input_audio', transcript }],
  };
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000);
}
