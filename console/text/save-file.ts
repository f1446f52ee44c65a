const KEPT_MS = 60_000;

/** Saves a file as a download of the browser. */
export function saveFile(name: string, content: Blob | string): void {
  const blob = typeof content === 'string' ? new Blob([content]) : content;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}
