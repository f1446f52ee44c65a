/** The file is not audio that can be decoded, or runs past the limit. The message is fit for the client. */
export class AudioError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AudioError';
  }
}

/** The sentence for audio past the limit; the probe says the same. */
export function tooLong(maxAudioSeconds: number): AudioError {
  return new AudioError(`The audio is longer than the limit of ${maxAudioSeconds} seconds. Send it in parts.`);
}
