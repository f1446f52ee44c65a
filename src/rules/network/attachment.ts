/**
 * A header Content-Disposition for a file to save.
 * @param plainName  for old clients: letters, digits, dots, dashes and underscores only
 * @param name  any text, spelled as in RFC 8187: no character of it has a meaning in the header; null: none
 */
export function attachment(plainName: string, name: string | null): string {
  const head = `attachment; filename="${plainName}"`;
  if (name === null) return head;
  const escaped = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${head}; filename*=UTF-8''${escaped}`;
}
