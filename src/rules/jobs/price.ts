/**
 * One credit in units: the unit is a millisecond of audio times a thousandth of a credit per minute, so that every
 * price is a whole number (1 credit = 60,000 ms × 1,000 thousandths).
 */
const UNITS_PER_CREDIT = 60_000_000;

/** The least credits that are shown: they have six decimals at most. */
export const LEAST_CREDITS = 0.000_001;

/**
 * What audio costs, in units; exact, no rounding.
 * @param durationMs        whole milliseconds of audio
 * @param creditsPerMinute  the plan's rate, at most three decimals
 * @throws RangeError  if a value is negative or broken, or the cost is past 2^53
 */
export function costUnits(durationMs: number, creditsPerMinute: number): number {
  const thousandths = Math.round(creditsPerMinute * 1000);
  if (!Number.isSafeInteger(durationMs) || durationMs < 0) {
    throw new RangeError(`durationMs must be a whole number from 0, not ${durationMs}`);
  }
  if (!Number.isSafeInteger(thousandths) || thousandths < 0) {
    throw new RangeError(`creditsPerMinute must be a number from 0, not ${creditsPerMinute}`);
  }
  return asSafe(durationMs * thousandths);
}

/** The length of audio that costs this number of units, in ms; 0 at a rate of 0. The reverse of `costUnits`. */
export function msOfUnits(units: number, creditsPerMinute: number): number {
  const thousandths = Math.round(creditsPerMinute * 1000);
  return thousandths === 0 ? 0 : Math.round(asSafe(units) / thousandths);
}

/** Whole milliseconds of audio that are charged for a number of samples: a begun one counts; no sample is free. */
export function billedMs(samples: number, sampleRate: number): number {
  return Math.ceil((samples * 1000) / sampleRate);
}

/** How a job ended; a failed one by its error type. */
export type PricedEnd =
  | 'completed'
  | 'canceled'
  | 'insufficient_balance'
  | 'unprocessable_audio'
  | 'engine_error'
  | 'engine_timeout'
  | 'audio_fetch_failed';

// Not in here: failures of the service, which are free.
const PAYS_FOR_FINISHED_PIECES: readonly PricedEnd[] = ['canceled', 'insufficient_balance', 'unprocessable_audio'];

/**
 * What an ended job costs. Text that could be read is paid for: a job that its caller cancels, or that fails for the
 * sake of its audio or balance, costs what its finished pieces cost. A failure of the service is free.
 * @param audioUnits        cost of all the audio that was decoded
 * @param transcribedUnits  cost of the audio up to the end of the last piece that could be read while the job ran
 */
export function chargedUnits(
  end: PricedEnd,
  { audioUnits, transcribedUnits }: { audioUnits: number; transcribedUnits: number },
): number {
  if (end === 'completed') return audioUnits;
  return PAYS_FOR_FINISHED_PIECES.includes(end) ? transcribedUnits : 0;
}

/** How much a hold must grow before more audio is transcribed; 0 when it covers all that was decoded so far. */
export function holdGrowthUnits({ heldUnits, decodedUnits }: { heldUnits: number; decodedUnits: number }): number {
  return Math.max(0, asSafe(decodedUnits) - asSafe(heldUnits));
}

/** Units as the credits that the API shows: the nearest number with at most six decimals. */
export function creditsFromUnits(units: number): number {
  const micro = roundedDivide(BigInt(asSafe(units)) * 1_000_000n, BigInt(UNITS_PER_CREDIT));
  return Number(micro) / 1_000_000;
}

/** The least credits with at most six decimals that cover the units. */
export function creditsToCover(units: number): number {
  return -creditsWithin(-units) + 0;
}

/** The most credits with at most six decimals that the units cover. */
export function creditsWithin(units: number): number {
  const nearest = creditsFromUnits(units);
  if (unitsFromCredits(nearest) <= units) return nearest;
  return (Math.round(nearest * 1_000_000) - 1) / 1_000_000;
}

/**
 * Credits as units, to the nearest unit.
 * @throws RangeError  if the credits are not finite, or the units are past 2^53
 */
export function unitsFromCredits(credits: number): number {
  return asSafe(Math.round(credits * UNITS_PER_CREDIT));
}

function asSafe(units: number): number {
  if (!Number.isSafeInteger(units)) throw new RangeError(`${units} units are past what can be counted exactly`);
  // No negative zero: it would show as -0 in a comparison of values.
  return units + 0;
}

/** Nearest whole quotient, halves away from zero. */
function roundedDivide(dividend: bigint, divisor: bigint): bigint {
  const half = divisor / 2n;
  return (dividend >= 0n ? dividend + half : dividend - half) / divisor;
}
