/**
 * A job as JSON, with the metadata as the client wrote it.
 * @param job   as the SDK gives it
 * @param mark  a text that the job does not contain
 */
export function jobJson(job: { metadata: unknown; metadataText: string | null }, mark: string): string {
  const { metadataText, ...rest } = job;
  return JSON.stringify({ ...rest, metadata: mark }).replace(JSON.stringify(mark), () => metadataText ?? 'null');
}
