import { ApiError } from '../../http/api-error.ts';
import { creditsToCover, creditsWithin } from '../../rules/jobs/price.ts';

/**
 * The 402, with both amounts for programs.
 * @param neededUnits  what the audio costs; 1 while its length is unknown, for a balance must hold something
 * @param describe     the message, from both amounts in credits
 */
export function insufficientBalance(
  { neededUnits, availableUnits }: { neededUnits: number; availableUnits: number },
  describe: (credits: { needed: number; available: number }) => string,
): ApiError {
  const [needed, available] = [creditsToCover(neededUnits), creditsWithin(availableUnits)];
  return new ApiError('insufficient_balance', describe({ needed, available }), {
    extra: { needed_credits: needed, available_credits: available },
  });
}
