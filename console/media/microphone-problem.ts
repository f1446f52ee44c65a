/** What the user can do about an error of a microphone. */
export function explainMicrophone({ name, message }: Error): string {
  const known: Record<string, string> = {
    NotAllowedError:
      'The browser blocks the microphone. Allow it in the settings of this site, next to the address, then try again.',
    NotFoundError: 'No microphone was found. Connect one, then try again.',
    SecurityError:
      'Browsers allow the microphone only over HTTPS or on localhost. Open the console at such an address.',
  };
  return known[name] ?? `The recording failed: ${message}`;
}
