/** The part of an audio element that the player uses. */
export type Media = {
  src: string;
  currentTime: number;
  readonly duration: number;
  readonly paused: boolean;
  playbackRate: number;
  play(): Promise<void>;
  pause(): void;
  load(): void;
  removeAttribute(name: string): void;
  addEventListener(type: string, listener: () => void): void;
};

/** Calls back before the next paint, as requestAnimationFrame and cancelAnimationFrame do. */
export type Frames = { request(callback: () => void): number; cancel(handle: number): void };

/** A part of the audio that is repeated, in seconds. */
export type Loop = { start: number; end: number };

/** What the controls show. The same object until something changes; the time is not part of it. */
export type PlayerState = {
  hasAudio: boolean;
  isPlaying: boolean;
  rate: number;
  loop: Loop | null;
  /** Why the audio cannot be played; null while it can. */
  problem: 'unplayable' | null;
};

export const MIN_RATE = 0.5;
export const MAX_RATE = 3;
const RATE_STEP = 0.1;

/**
 * The position in a job's audio, and its sound where there is one. Without audio a position can be chosen too, so that
 * links and clicks mark the words. Times are in seconds.
 */
export class Player {
  readonly #media: Media;
  readonly #frames: Frames;
  readonly #durationSeconds: number;
  readonly #stateListeners = new Set<() => void>();
  readonly #timeListeners = new Set<(seconds: number) => void>();
  readonly #seekListeners = new Set<() => void>();
  #state: PlayerState = { hasAudio: false, isPlaying: false, rate: 1, loop: null, problem: null };
  #seconds = 0;
  #frame: number | null = null;
  /** Set while the element loads: some browsers report 0 as its time until then. */
  #isLoading = false;

  /** @param durationSeconds  of the audio, as the job says; of a variable rate the element only estimates it */
  constructor(media: Media, durationSeconds: number, frames: Frames) {
    this.#media = media;
    this.#frames = frames;
    this.#durationSeconds = durationSeconds;
    media.addEventListener('loadedmetadata', () => this.#loaded());
    for (const event of ['play', 'pause', 'ended']) media.addEventListener(event, () => this.#update());
    for (const event of ['timeupdate', 'seeked']) media.addEventListener(event, () => this.#readTime());
    media.addEventListener('error', () => this.#failed());
  }

  get state(): PlayerState {
    return this.#state;
  }

  get durationSeconds(): number {
    return this.#durationSeconds;
  }

  get seconds(): number {
    return this.#seconds;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#stateListeners.add(listener);
    return () => this.#stateListeners.delete(listener);
  };

  /** Calls back with each new time: before each paint while the audio plays, and after each seek. */
  onTime(listener: (seconds: number) => void): () => void {
    this.#timeListeners.add(listener);
    return () => this.#timeListeners.delete(listener);
  }

  /** Calls back when the reader goes to another time. */
  onSeek(listener: () => void): () => void {
    this.#seekListeners.add(listener);
    return () => this.#seekListeners.delete(listener);
  }

  /** Takes another source for the same audio, and goes on from the same place. @param url  null: there is none */
  setSource(url: string | null): void {
    const isPlaying = this.#state.isPlaying;
    this.#isLoading = url !== null;
    if (url === null) this.#media.removeAttribute('src');
    else this.#media.src = url;
    this.#media.load();
    this.#change({ hasAudio: url !== null, problem: null });
    if (isPlaying && url !== null) void this.play();
  }

  async play(): Promise<void> {
    if (!this.#state.hasAudio) return;
    this.#media.playbackRate = this.#state.rate;
    // Rejected when a pause or another source comes first, and by the browser's rules for sound.
    await this.#media.play().catch(() => undefined);
  }

  toggle(): void {
    if (this.#media.paused) void this.play();
    else this.#media.pause();
  }

  pause(): void {
    this.#media.pause();
  }

  seek(seconds: number): void {
    const { loop } = this.#state;
    if (loop !== null && (seconds < loop.start || seconds >= loop.end)) this.#change({ loop: null });
    this.#moveTo(seconds);
    for (const listener of this.#seekListeners) listener();
  }

  skip(seconds: number): void {
    this.seek(this.#seconds + seconds);
  }

  /** The speed is a multiple of 0.1 from 0.5 to 3. */
  setRate(rate: number): void {
    const allowed = Math.min(MAX_RATE, Math.max(MIN_RATE, Math.round(rate * 10) / 10));
    this.#media.playbackRate = allowed;
    this.#change({ rate: allowed });
  }

  changeRate(steps: number): void {
    this.setRate(this.#state.rate + steps * RATE_STEP);
  }

  /** Repeats a part, from its start unless the time is in it already; null plays on. */
  setLoop(loop: Loop | null): void {
    this.#change({ loop });
    if (loop !== null && (this.#seconds < loop.start || this.#seconds >= loop.end)) this.#moveTo(loop.start);
  }

  /** Ends the sound and all work. The player cannot be used after that. */
  close(): void {
    this.#media.pause();
    this.setSource(null);
    if (this.#frame !== null) this.#frames.cancel(this.#frame);
    this.#frame = null;
    this.#stateListeners.clear();
    this.#timeListeners.clear();
    this.#seekListeners.clear();
  }

  #moveTo(seconds: number): void {
    const target = Math.min(Math.max(0, seconds), this.#durationSeconds);
    if (this.#state.hasAudio) this.#media.currentTime = target;
    this.#setTime(target);
  }

  #loaded(): void {
    this.#isLoading = false;
    if (this.#seconds > 0) this.#media.currentTime = this.#seconds;
    this.#media.playbackRate = this.#state.rate;
  }

  #failed(): void {
    if (this.#state.hasAudio) this.#change({ problem: 'unplayable', isPlaying: false });
  }

  #update(): void {
    this.#change({ isPlaying: !this.#media.paused });
    if (this.#state.isPlaying && this.#frame === null) this.#frame = this.#frames.request(this.#onFrame);
  }

  readonly #onFrame = (): void => {
    this.#frame = null;
    this.#readTime();
    if (this.#state.isPlaying) this.#frame = this.#frames.request(this.#onFrame);
  };

  #readTime(): void {
    if (this.#isLoading || !this.#state.hasAudio) return;
    const { loop } = this.#state;
    const seconds = this.#media.currentTime;
    if (loop !== null && seconds >= loop.end) this.#moveTo(loop.start);
    else this.#setTime(seconds);
  }

  #setTime(seconds: number): void {
    if (seconds === this.#seconds) return;
    this.#seconds = seconds;
    for (const listener of this.#timeListeners) listener(seconds);
  }

  #change(change: Partial<PlayerState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#stateListeners) listener();
  }
}
