import type { Sql } from '../../db/database.ts';
import type { Claim } from '../queue/lease-store.ts';
import { findKeptPieces, keepPieces } from '../queue/piece-store.ts';

/** Where a piece of a job's audio is. */
type Place = { channel: number; startSeconds: number; isWhole: boolean };
/** What came of a piece: values that JSON can hold. */
type Kept<Result> = { model: string; samples: number; result: Result };

// What is kept may be read by a node of another version: change it with the form of a result.
const FORM = 2;

/**
 * What came of the pieces of a job so far, in this execution and in those that ended because something was away. A
 * piece is found again when it is cut at the same places and the model is the same.
 */
export class KeptPieces<Result extends Place> {
  readonly #model: string;
  readonly #kept = new Map<string, Kept<Result>>();

  constructor(model: string) {
    this.#model = model;
  }

  /** Reads what earlier executions have kept. */
  async read(sql: Sql, claim: Claim): Promise<void> {
    for (const text of await findKeptPieces(sql, claim)) {
      const { form, ...kept } = JSON.parse(text) as Kept<Result> & { form: number };
      if (form === FORM) this.#kept.set(keyOf(kept.result, kept.samples), kept);
    }
  }

  /** @param samples  the length of the piece */
  find(place: Place, samples: number): Result | null {
    const kept = this.#kept.get(keyOf(place, samples));
    return kept?.model === this.#model ? kept.result : null;
  }

  add(result: Result, samples: number): void {
    this.#kept.set(keyOf(result, samples), { model: this.#model, samples, result });
  }

  /** Stores them for the next execution, while the job is held under this claim. */
  async store(sql: Sql, claim: Claim): Promise<void> {
    await keepPieces(
      sql,
      claim,
      [...this.#kept.values()].map((kept) => JSON.stringify({ form: FORM, ...kept })),
    );
  }
}

function keyOf({ channel, startSeconds }: Place, samples: number): string {
  return `${channel} ${startSeconds} ${samples}`;
}
