/** The file cannot be decoded as audio, or is longer than the limit. The message is shown to the client. */
export class AudioError extends Error {
  readonly fault = 'audio';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AudioError';
  }
}

/** The error for audio over the limit, with the same message in the probe and in the decoder. */
export function tooLong(maxAudioSeconds: number): AudioError {
  return new AudioError(`The audio is longer than the limit of ${maxAudioSeconds} seconds. Send it in parts.`);
}

/** The error for audio without a single sample. */
export function noSound(cause?: unknown): AudioError {
  return new AudioError('The file holds no sound that can be decoded.', { cause });
}
