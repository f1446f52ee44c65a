import type { AudioStorage } from '../../audio/storage/storage.ts';
import type { Config } from '../../config/settings.ts';
import type { Database } from '../../db/database.ts';
import type { Engine } from '../../engines/engine.ts';
import type { SpeakerFinder } from '../../engines/speakers/speakers.ts';
import type { VoiceDetector } from '../../engines/vad/vad.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { ToolPaths } from '../../platform/tools.ts';
import type { JobMetrics } from '../job.ts';
import type { Holder } from '../queue/lease-store.ts';
import type { PieceTimeout } from './pipeline.ts';

/** The dependencies of a transcriber's worker loop and of the jobs that it executes. */
export type TranscriberDeps = {
  db: Database;
  config: Config;
  engines: { lite: Engine; pro: Engine };
  detector?: VoiceDetector | null;
  speakerFinder?: SpeakerFinder | null;
  storage: AudioStorage;
  tools: ToolPaths;
  clock: Clock;
  log: Log;
  metrics?: JobMetrics;
  /** The name of this process, so that its leases can be released when it has ended. */
  holder?: Holder;
  /** The timeout of one piece; the default allows for the slowest machine. */
  pieceTimeout?: PieceTimeout;
};
