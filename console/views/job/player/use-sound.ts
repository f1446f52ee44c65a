import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { ApiError } from '#sdk/client/index.ts';
import type { Job } from '#sdk/wire.ts';
import { api } from '../../../api/client.ts';
import { checkFile, type FileCheck, MAX_PEAKS_SECONDS } from './attached-file.ts';
import { lengthOf, peaksOfFile } from './decode-file.ts';
import type { Peaks } from './peaks.ts';
import type { Player } from './player.ts';

/** Where the sound of a job comes from. */
export type JobSound = {
  source: 'loading' | 'stored' | 'attached' | 'none';
  /** Why the link to the stored audio could not be made; null: the audio is not stored, or all is well. */
  error: unknown;
  retry(): void;
  peaks: Peaks | null;
  attach(file: File): Promise<FileCheck>;
};

/** The stored audio of a job by a link, or a file of this computer, which does not leave the tab. */
export function useSound(job: Pick<Job, 'id' | 'audio'>, player: Player): JobSound {
  const [source, setSource] = useState<JobSound['source']>('loading');
  const [error, setError] = useState<unknown>(null);
  const stored = usePeaks(job.id);
  const [ownPeaks, setOwnPeaks] = useState<Peaks | null>(null);
  const expiresAtMs = useRef(0);
  const attachedUrl = useRef<string | null>(null);
  /** Whether the browser has refused the original: then it gets the copy that every browser plays. */
  const needsCopy = useRef(false);

  const load = useCallback(async () => {
    setError(null);
    try {
      const link = await api.jobs.audioLink(job.id);
      expiresAtMs.current = Date.parse(link.expires_at);
      player.setSource(needsCopy.current ? `${link.url}?format=opus` : link.url);
      setSource('stored');
    } catch (cause) {
      const isErased = cause instanceof ApiError && (cause.status === 404 || cause.status === 409);
      if (!isErased) setError(cause);
      setSource('none');
    }
  }, [job.id, player]);
  useEffect(() => void load(), [load]);
  useOtherSource(player, source === 'stored', { expiresAtMs, needsCopy, load });
  useEffect(() => () => revoke(attachedUrl.current), []);

  async function attach(file: File): Promise<FileCheck> {
    const url = URL.createObjectURL(file);
    const check = checkFile({ sizeBytes: file.size, durationSeconds: await lengthOf(url) }, job.audio);
    if (check.kind === 'other') {
      revoke(url);
      return check;
    }
    revoke(attachedUrl.current);
    attachedUrl.current = url;
    player.setSource(url);
    setSource('attached');
    // The service has no waveform of old jobs.
    if (stored === null && player.durationSeconds <= MAX_PEAKS_SECONDS) void peaksOfFile(file).then(setOwnPeaks);
    return check;
  }

  return { source, error, retry: () => void load(), peaks: stored ?? ownPeaks, attach };
}

/** The waveform that the service keeps; null while it loads, and where there is none. */
function usePeaks(id: string): Peaks | null {
  const { data } = useQuery({
    queryKey: ['job', id, 'peaks'],
    queryFn: ({ signal }) => api.jobs.peaks(id, { points: 2_000 }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return data ?? null;
}

/**
 * When the element fails, the player goes on at the same place with another source. A link is good for some minutes:
 * after that another one is made. Before, the browser cannot play the original, and gets a copy. `canPlayType` cannot
 * tell, because it knows containers: GSM and PCM are both audio/wav.
 */
function useOtherSource(
  player: Player,
  isStored: boolean,
  {
    expiresAtMs,
    needsCopy,
    load,
  }: { expiresAtMs: React.RefObject<number>; needsCopy: React.RefObject<boolean>; load: () => Promise<void> },
): void {
  const { problem } = useSyncExternalStore(player.subscribe, () => player.state);
  useEffect(() => {
    if (!isStored || problem === null) return;
    const hasExpired = Date.now() >= expiresAtMs.current;
    if (!hasExpired && needsCopy.current) return;
    needsCopy.current ||= !hasExpired;
    void load();
  }, [isStored, problem, expiresAtMs, needsCopy, load]);
}

function revoke(url: string | null): void {
  if (url !== null) URL.revokeObjectURL(url);
}
