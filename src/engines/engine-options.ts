import type { Log } from '../platform/log.ts';
import type { ToolPaths } from '../platform/tools.ts';

/** What an engine is opened with. */
export type EngineOptions = {
  /** Folder of model folders. */
  modelsDir: string;
  /** Pieces transcribed at once. */
  slots: number;
  threadsPerSlot: number;
  /** Sent to a remote engine as a bearer token. */
  apiKey: string | null;
  tools: ToolPaths;
  log: Log;
  /** Called for each engine process that ended unasked, with the engine's name; another one takes its place. */
  onRestart?: (name: string) => void;
  /** Called once the first process of an engine is on its way. */
  onBegun?: () => void;
};
