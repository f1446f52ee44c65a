type Answered = {
  nowMs: number;
  /** Requests at the server, with the one that was answered. */
  underWay: number;
  /** Requests that wait for one of these to end. */
  waiting: number;
  /** What the answer took the server, in any unit: about the same for each second of its time. */
  work: number;
};

/** Two, so that the server has the next request when it has answered one. */
const START = 2;
const STEP = 1.5;
/** Of a round. One piece may take twice as long as another. */
const ANSWERS_LEAST = 6;
/** More requests are kept where the throughput grew by at least this share of their growth, as logarithms. */
const PAYS = 0.5;
/** Rounds without a try, after tries in both directions gave nothing. */
const HOLD_ROUNDS = { least: 8, most: 32 };

/**
 * How many requests a server gets at once: as many as it works on without growing slower. The throughput is measured
 * over rounds of answers; the limit is raised while the throughput grows with it, lowered while the throughput stays,
 * and left alone for some rounds when neither is so. Answers count only while all that the limit allows are under way.
 */
export class RequestLimit {
  readonly #most: number;
  #limit: number;
  #round: { startMs: number; answers: number; work: number } | null = null;
  /** Before the last move of the limit, while that is being tried. */
  #before: { limit: number; throughput: number } | null = null;
  #direction: 1 | -1 = 1;
  /** Tries in a row that gave nothing. */
  #failures = 0;
  #holdRounds = 0;
  #nextHoldRounds = HOLD_ROUNDS.least;

  /** @param most  1 or more */
  constructor(most: number) {
    this.#most = most;
    this.#limit = Math.min(START, most);
  }

  get limit(): number {
    return this.#limit;
  }

  answered({ nowMs, underWay, waiting, work }: Answered): void {
    const isFull = underWay === this.#limit && (waiting > 0 || this.#limit === this.#most);
    if (!isFull) {
      this.interrupted();
      return;
    }
    const begun = { startMs: nowMs, answers: 0, work: 0 };
    const round = this.#round;
    if (round === null) {
      this.#round = begun;
      return;
    }
    round.answers += 1;
    round.work += work;
    // A multiple of the limit: a server may answer that many at the same moment.
    if (round.answers < this.#limit * Math.ceil(ANSWERS_LEAST / this.#limit)) return;
    this.#round = begun;
    this.#judge(round.work / Math.max(1, nowMs - round.startMs));
  }

  /** The server answered that it has too many requests. @param underWay  with the refused one */
  refused(underWay: number): void {
    this.interrupted();
    // Of those that were sent before the limit was lowered, one tells it all.
    if (underWay > this.#limit) return;
    this.#limit = this.#next(-1);
    this.#before = null;
    this.#hold();
  }

  /** A request ended without a transcript: what the server did meanwhile is not known. */
  interrupted(): void {
    this.#round = null;
  }

  #judge(throughput: number): void {
    const before = this.#before;
    this.#before = null;
    if (before === null) {
      if (this.#holdRounds > 0) this.#holdRounds -= 1;
      else this.#move(throughput);
      return;
    }
    const moved = Math.log(this.#limit / before.limit);
    const isMoreBetter = Math.log(throughput / before.throughput) / moved >= PAYS;
    if (isMoreBetter === moved > 0) {
      this.#failures = 0;
      this.#nextHoldRounds = HOLD_ROUNDS.least;
      this.#move(throughput);
    } else {
      this.#limit = before.limit;
      this.#turn();
    }
  }

  #move(throughput: number): void {
    const limit = this.#next(this.#direction);
    if (limit === this.#limit) {
      this.#turn();
      return;
    }
    this.#before = { limit: this.#limit, throughput };
    this.#limit = limit;
  }

  #turn(): void {
    this.#direction = this.#direction === 1 ? -1 : 1;
    this.#failures += 1;
    if (this.#failures >= 2) this.#hold();
  }

  #hold(): void {
    this.#failures = 0;
    this.#holdRounds = this.#nextHoldRounds;
    this.#nextHoldRounds = Math.min(HOLD_ROUNDS.most, 2 * this.#nextHoldRounds);
  }

  #next(direction: 1 | -1): number {
    const next = direction === 1 ? Math.ceil(this.#limit * STEP) : Math.floor(this.#limit / STEP);
    return Math.min(this.#most, Math.max(1, next));
  }
}
