// Runs in the audio thread, in a file of its own (src/http/service/console-bundle.ts).

declare const sampleRate: number;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;

const PIECE_SECONDS = 0.1;

/**
 * Makes signed 16-bit samples of the first channel, and sends them in pieces of 100 ms with the highest level of each.
 */
class PcmProcessor extends AudioWorkletProcessor {
  #samples = new Int16Array(Math.round(sampleRate * PIECE_SECONDS));
  #length = 0;
  #peak = 0;
  #isOver = false;

  constructor() {
    super();
    this.port.onmessage = () => {
      this.#isOver = true;
      this.#send();
      this.port.postMessage(null);
    };
  }

  process([input]: Float32Array[][]): boolean {
    for (const value of input?.[0] ?? []) {
      const level = Math.max(-1, Math.min(1, value));
      this.#samples[this.#length++] = Math.round(level * (level < 0 ? 32_768 : 32_767));
      this.#peak = Math.max(this.#peak, Math.abs(level));
      if (this.#length === this.#samples.length) this.#send();
    }
    return !this.#isOver;
  }

  #send(): void {
    const pcm = this.#samples.slice(0, this.#length).buffer;
    this.port.postMessage({ pcm, peak: this.#peak }, [pcm]);
    this.#length = 0;
    this.#peak = 0;
  }
}

registerProcessor('pcm', PcmProcessor);
