/** A file of a model. Its bytes are pinned, so that no change on a hub reaches a service unseen. */
export type ModelFile = {
  /** Inside the repository, and inside the model's folder. */
  path: string;
  sizeBytes: number;
  /** Hexadecimal; null where it is not known beforehand: then what the hub says of its file counts. */
  sha256: string | null;
};

export type PublishedWer = {
  percent: number;
  /** On what it was measured. */
  testSet: string;
  /** Who published it. */
  source: string;
  /** Whether we saw the source; a figure from memory is marked as such wherever it is shown. */
  isChecked: boolean;
};

/** What is known of a model before it is pulled. */
export type Model = {
  /** What one types, and the name of its folder. */
  name: string;
  title: string;
  /** `vad` finds speech in silence; it transcribes nothing. */
  family: 'parakeet-tdt' | 'parakeet-ctc' | 'whisper' | 'moonshine' | 'vad';
  repository: string;
  /** A commit, or a branch. */
  revision: string;
  files: readonly ModelFile[];
  licence: string;
  /** Whom the licence wants named. */
  attribution: string;
  /** BCP 47 codes; empty for a model that knows no language. */
  languages: readonly string[];
  wer: PublishedWer | null;
  /** Memory of one engine process, roughly; each further slot needs it again. */
  needsMemoryMb: number;
  /** For whom, in one line. */
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

/** Something the operator can mend or wait out: the message says what to do. */
export class ModelError extends Error {
  readonly problem: ModelProblem;
  constructor(problem: ModelProblem, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ModelError';
    this.problem = problem;
  }
}

/** All files together. */
export function sizeOfModel(model: Pick<Model, 'files'>): number {
  return model.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}
