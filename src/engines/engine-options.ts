import type { Log } from '../platform/log.ts';
import type { ToolPaths } from '../platform/tools.ts';

/** Options for opening an engine. */
export type EngineOptions = {
  /** Folder of model folders. */
  modelsDir: string;
  /** How many pieces are transcribed at once. */
  slots: number;
  threadsPerSlot: number;
  /** Of its processes on this machine; absent: that of engines for jobs. */
  niceness?: number;
  /** Sent to a remote engine as a bearer token. */
  apiKey: string | null;
  tools: ToolPaths;
  log: Log;
  /** Called with the engine's name for each engine process that crashed; another one replaces it. */
  onRestart?: (name: string) => void;
  /** Called with the engine's name for each call during which its process wrote errors. */
  onMessages?: (name: string) => void;
};
