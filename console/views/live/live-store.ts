import type { LiveParams, LivePartial, LiveSegment, LiveSession, LiveUpdate } from '#sdk/client/index.ts';
import { api } from '../../api/client.ts';
import { type Microphone, openMicrophone } from '../../media/microphone.ts';
import { explainMicrophone } from '../../media/microphone-problem.ts';
import { session as signedIn } from '../../session/session.ts';
import { openStore } from '../../session/store.ts';

export type Phase = 'idle' | 'starting' | 'recording' | 'finishing' | 'ended';

export type LiveState = {
  phase: Phase;
  startedAtMs: number;
  segments: readonly LiveSegment[];
  /** The words of the open segment. */
  open: LivePartial | null;
  jobId: string | null;
  isConnected: boolean;
  warnings: readonly string[];
  /** What ended it: an error of the API, or a sentence. */
  problem: unknown;
};

const IDLE: LiveState = {
  phase: 'idle',
  startedAtMs: 0,
  segments: [],
  open: null,
  jobId: null,
  isConnected: true,
  warnings: [],
  problem: null,
};
const FLOOR_DB = -60;
// Below it nobody speaks near the microphone.
const QUIET_LEVEL = 0.25;

/** The session of this tab. Its text stays while other views are shown. */
export const live = openStore<LiveState>(IDLE);

/**
 * Of the microphone: its level, 0 to 1, since when it is quiet, and the seconds of audio that the service does not
 * have.
 */
export const sound = openStore({ level: 0, quietSinceMs: Number.POSITIVE_INFINITY, waitingSeconds: 0 });

let current: { microphone: Microphone; session: LiveSession } | null = null;

/** Opens the microphone and begins a session. */
export async function begin(params: LiveParams): Promise<void> {
  live.set({ ...IDLE, phase: 'starting' });
  let microphone: Microphone | null = null;
  let session: LiveSession | null = null;
  const early: ArrayBuffer[] = [];
  try {
    microphone = await openMicrophone({
      onPiece({ pcm, peak }) {
        if (session === null) early.push(pcm);
        else void session.write(pcm);
        showSound(peak, session?.unacknowledgedBytes ?? 0, microphone?.sampleRate ?? 1);
      },
      onEnded: () => void stop(),
    });
    const wanted = { ...params, sample_rate: microphone.sampleRate };
    session = await api.live(wanted, { onConnection: ({ state }) => change({ isConnected: state === 'connected' }) });
    for (const pcm of early) void session.write(pcm);
    current = { microphone, session };
    const isStopped = live.get().phase !== 'starting';
    change({ phase: 'recording', startedAtMs: Date.now(), jobId: session.id });
    void follow(current);
    if (isStopped) void stop();
  } catch (error) {
    await microphone?.stop();
    const isOfMicrophone = error instanceof DOMException;
    change({ phase: 'ended', problem: isOfMicrophone ? explainMicrophone(error) : error });
  }
}

/** Releases the microphone; what was said until then is transcribed. */
export async function stop(): Promise<void> {
  // `begin` looks at it: the view was left, or the microphone taken away.
  if (live.get().phase === 'starting') change({ phase: 'finishing' });
  if (current === null || live.get().phase !== 'recording') return;
  const { microphone, session } = current;
  change({ phase: 'finishing' });
  await microphone.stop();
  // `follow` reports what comes of it.
  await session.finish().catch(() => undefined);
}

async function follow({ microphone, session }: NonNullable<typeof current>): Promise<void> {
  const { account } = signedIn.get();
  try {
    for await (const update of session) apply(update);
    const job = await session.ended;
    change({ phase: 'ended', open: null, problem: job.error?.message ?? null });
  } catch (error) {
    change({ phase: 'ended', open: null, problem: error });
  } finally {
    current = null;
    if (signedIn.get().account !== account) live.set(IDLE);
    await microphone.stop();
  }
}

function apply(update: LiveUpdate): void {
  const { segments, warnings } = live.get();
  if (update.type === 'partial') change({ open: update });
  else if (update.type === 'segment') change({ segments: [...segments, update], open: null });
  else if (update.type === 'warning') change({ warnings: [...new Set([...warnings, update.message])] });
  else if (update.type === 'audio_lost') {
    change({
      warnings: [
        ...new Set([
          ...warnings,
          'The connection was lost for too long, or the session had ended: a part of the audio is lost.',
        ]),
      ],
    });
  }
}

function showSound(peak: number, unsentBytes: number, sampleRate: number): void {
  const level = Math.max(0, 1 - (20 * Math.log10(Math.max(peak, 1e-6))) / FLOOR_DB);
  const { quietSinceMs } = sound.get();
  const isQuiet = level < QUIET_LEVEL;
  sound.set({
    level,
    quietSinceMs: isQuiet ? Math.min(quietSinceMs, Date.now()) : Number.POSITIVE_INFINITY,
    waitingSeconds: unsentBytes / (2 * sampleRate),
  });
}

function change(changed: Partial<LiveState>): void {
  live.set({ ...live.get(), ...changed });
}

let owner = signedIn.get().account;

// What was said in one account is not shown to the next.
signedIn.subscribe(() => {
  const { account } = signedIn.get();
  if (account === owner) return;
  owner = account;
  if (live.get().phase === 'ended') live.set(IDLE);
});

addEventListener('beforeunload', (event) => {
  if (['recording', 'finishing'].includes(live.get().phase)) event.preventDefault();
});
