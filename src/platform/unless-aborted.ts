/** The result of a promise. Rejects with the signal's reason where that aborts first: the promise is not waited for. */
export async function unlessAborted<Result>(promise: Promise<Result>, signal: AbortSignal): Promise<Result> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort);
  return await Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort));
}
