type Output = { write(text: string): unknown };

/**
 * Asks the service on this machine whether it runs; resolves with the exit code.
 * @param args  the words after `health`
 */
export declare function runHealth(
  args: string[],
  options?: { env?: NodeJS.ProcessEnv; stdout?: Output; stderr?: Output },
): Promise<0 | 1 | 2>;
