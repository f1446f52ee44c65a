/** A file of a model with pinned size and digest: a changed file on the hub is rejected. */
export type ModelFile = {
  /** Relative to the repository and to the model's folder. */
  path: string;
  sizeBytes: number;
  /** In hex; null when unknown: then the hub's digest is used. */
  sha256: string | null;
};

export type PublishedWer = {
  percent: number;
  testSet: string;
  source: string;
  /** Whether the source was looked up; other figures are marked where they are shown. */
  isChecked: boolean;
};

/** A model in the catalogue. */
export type Model = {
  /** The name in commands, and of the folder. */
  name: string;
  title: string;
  /** `vad` is a voice detector: it transcribes nothing. */
  family: 'parakeet-tdt' | 'parakeet-ctc' | 'whisper' | 'moonshine' | 'vad';
  repository: string;
  /** A commit, or a branch. */
  revision: string;
  files: readonly ModelFile[];
  licence: string;
  /** The attribution that the licence requires. */
  attribution: string;
  /** BCP 47 codes; empty for a voice detector. */
  languages: readonly string[];
  wer: PublishedWer | null;
  /** Approximate memory of one engine process; each slot has one. */
  needsMemoryMb: number;
  /** Recommended use, in one line. */
  advice: string;
};

export type ModelProblem =
  | 'unknown_model'
  | 'unreachable'
  | 'not_on_hub'
  | 'wrong_bytes'
  | 'no_space'
  | 'busy'
  | 'not_pulled'
  | 'unreadable';

/** A problem that the operator can solve; the message says what to do. */
export class ModelError extends Error {
  readonly problem: ModelProblem;
  constructor(problem: ModelProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ModelError';
    this.problem = problem;
  }
}

/** The size of all files in bytes. */
export function sizeOfModel(model: Pick<Model, 'files'>): number {
  return model.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}
