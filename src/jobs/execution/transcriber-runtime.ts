import type { StorageRuntime } from '../../audio/storage/storage.ts';
import type { Engine } from '../../engines/engine.ts';
import type { SpeakerFinder } from '../../engines/speakers/speakers.ts';
import type { VoiceDetector } from '../../engines/vad/vad.ts';
import type { Slices } from '../../platform/slices.ts';
import type { ToolPaths } from '../../platform/tools.ts';
import type { Plan } from '../../rules/accounts/plan.ts';
import type { ClaimedJob, Job, JobMetrics } from '../job.ts';
import type { Holder } from '../queue/lease-store.ts';

export type PieceTimeout = { baseMs: number; perAudioSecondMs: number };

/** Ends the job of a live session whose client did not come back. */
export type EndOrphan = (
  job: ClaimedJob,
  engine: Engine,
  runtime: Pick<TranscriberRuntime, keyof StorageRuntime | 'detector' | 'slices' | 'jobMetrics'>,
  signal: AbortSignal,
) => Promise<Job>;

/** What a transcriber's worker loop and the jobs that it executes run on. */
export type TranscriberRuntime = StorageRuntime & {
  /** Jobs of a plan whose engine is away are not claimed. */
  engines: Record<Plan, Engine>;
  /** Finds the speech: the engine is given nothing else, and its text is compared with it. Absent without its model. */
  detector?: VoiceDetector | null;
  /** Null on a node without the speaker model. */
  speakerFinder?: SpeakerFinder | null;
  tools: ToolPaths;
  endOrphan: EndOrphan;
  jobMetrics: JobMetrics;
  /** The name of this process, so that its leases can be released when it has ended. */
  holder?: Holder;
  /** Shares the event loop between live sessions that are ended; default: one for each. */
  slices?: Slices;
  /** The timeout of one piece; the default allows for the slowest machine. */
  pieceTimeout?: PieceTimeout;
};
