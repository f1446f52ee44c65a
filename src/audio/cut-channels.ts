import type { Pcm } from '../engines/engine.ts';
import { endSample, type Piece } from './split.ts';

/** A piece of one of several channels; `channel` is its position among them. */
export type ChannelPiece = Piece & { channel: number };

type Cutter = { channel: number; pieces: AsyncGenerator<Piece>; reached: number };

/**
 * The pieces of several channels of the same length in the order of their starts, then of the channels. Each channel is
 * cut on its own. While the pieces are consumed, the chunks are read no further than the longest piece past the start
 * of the next piece, which bounds what is kept of each channel.
 * @param chunks  the samples of `channels` channels
 * @param cut     as `cutPieces`
 */
export async function* cutChannels(
  chunks: AsyncIterable<Pcm[]>,
  channels: number,
  cut: (pcm: AsyncIterable<Pcm>) => AsyncGenerator<Piece>,
): AsyncGenerator<ChannelPiece> {
  const shared = new SharedChunks(chunks, channels);
  const cutters: Cutter[] = Array.from({ length: channels }, (_, channel) => ({
    channel,
    pieces: cut(shared.of(channel)),
    reached: 0,
  }));
  try {
    for (let open = cutters; open.length > 0; ) {
      const next = open.reduce((first, cutter) => (cutter.reached < first.reached ? cutter : first));
      const { done, value } = await next.pieces.next();
      if (done) open = open.filter((cutter) => cutter !== next);
      else {
        next.reached = endSample(value);
        yield { ...value, channel: next.channel, isWhole: value.isWhole && channels === 1 };
      }
    }
  } finally {
    for (const { pieces } of cutters) await pieces.return(undefined);
    await shared.close();
  }
}

/** One source of chunks for several readers, of which one at a time reads. */
class SharedChunks {
  readonly #source: AsyncIterator<Pcm[]>;
  readonly #unread: Pcm[][];

  constructor(chunks: AsyncIterable<Pcm[]>, channels: number) {
    this.#source = chunks[Symbol.asyncIterator]();
    this.#unread = Array.from({ length: channels }, () => []);
  }

  async *of(channel: number): AsyncGenerator<Pcm> {
    const unread = this.#unread[channel]!;
    while (true) {
      while (unread.length > 0) yield unread.shift()!;
      const { done, value } = await this.#source.next();
      if (done) return;
      for (const [position, samples] of value.entries()) this.#unread[position]!.push(samples);
    }
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }
}
