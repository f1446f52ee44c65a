const LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:(.*)$/;

/**
 * Headers that a user has typed, one `Name: value` per line.
 * @returns the headers, or a sentence about the first line that is none
 */
export function readHeaderLines(text: string): Record<string, string> | string {
  const headers = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') continue;
    const [, name = '', text = ''] = LINE.exec(line.trim()) ?? [];
    const value = text.trim();
    // The value may be a secret: it is not repeated.
    if (name === '') return 'Write one header per line, as Name: value.';
    if (value === '') return `The header ${name} has no value.`;
    headers.set(name, value);
  }
  return Object.fromEntries(headers);
}
