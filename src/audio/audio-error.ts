/** The file is not audio that can be decoded, or runs past the limit. The message is fit for the client. */
export class AudioError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AudioError';
  }
}
