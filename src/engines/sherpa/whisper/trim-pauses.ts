// As OpenAI's own times of words: https://github.com/openai/whisper/blob/main/whisper/timing.py
const TOKEN_MAX_SECONDS = 0.7;
const MEDIANS = 2;
const MARK_END = /[.?!,;:。？！，、；：]$/u;

/** Of a result of sherpa-onnx: the tokens, and the seconds at which they begin and for which they last. */
export type TimedTokens = { text: string; tokens?: string[]; timestamps?: number[]; durations?: number[] };

/**
 * The result with its first token, and each token after a mark, as long as other tokens are: Whisper's times count the
 * pause before it as a part of the token.
 */
export function trimPauses<Result extends TimedTokens>(result: Result): Result {
  const { tokens = [], timestamps = [], durations = [] } = result;
  if (tokens.length !== durations.length || tokens.length !== timestamps.length) return result;
  const spoken = durations.filter((seconds) => seconds > 0).toSorted((one, other) => one - other);
  const longest = MEDIANS * Math.min(TOKEN_MAX_SECONDS, spoken[Math.floor(spoken.length / 2)] ?? 0);
  const pauses = durations.map((seconds, at) => {
    const followsPause = at === 0 || MARK_END.test(tokens[at - 1]!);
    return followsPause ? Math.max(0, seconds - longest) : 0;
  });
  return {
    ...result,
    timestamps: timestamps.map((start, at) => start + pauses[at]!),
    durations: durations.map((seconds, at) => seconds - pauses[at]!),
  };
}
