/** What the user can do about an error of a microphone. */
export function explainMicrophone({ name, message }: Error): string {
  const known: Record<string, string> = {
    NotAllowedError:
      'The browser did not permit the microphone. Permit it in the settings of this site, beside the address, and record again.',
    NotFoundError: 'No microphone was found. Connect one and record again.',
    SecurityError: 'Browsers record only on pages that came over https, or from localhost.',
  };
  return known[name] ?? `The recording failed: ${message}`;
}
