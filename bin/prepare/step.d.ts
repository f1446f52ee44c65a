/** Runs a program that may take long, and shows its purpose. @throws Error  with its output, if it fails */
export function step(
  label: string,
  command: string,
  args: readonly string[],
  options?: { cwd?: string; env?: NodeJS.ProcessEnv },
): Promise<void>;
