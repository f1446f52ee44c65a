/** A repository of the hub. */
export type HubSource = {
  repository: string;
  /** A commit, or a branch. */
  revision: string;
};

/** A file of a model with pinned size and digest: a changed file on the hub is rejected. */
export type ModelFile = {
  /** Relative to the repository and to the model's folder. */
  path: string;
  sizeBytes: number;
  /** In hex; null when unknown: then the hub's digest is used. */
  sha256: string | null;
  /** The repository of this file on the hub, where it is not the model's. */
  source?: HubSource;
  /** The tokenizer among the files, of which this file is made; no archive has it. */
  tokensOf?: string;
};

/** Of a part of a ZIP archive: where the compressed bytes of a file begin in the part, and how many there are. */
export type ZipMember = { path: string; offset: number; packedBytes: number };

/** Where the bytes of a file begin in an unpacked archive. */
export type TarMember = { path: string; offset: number };

/** The bytes of an archive that hold the files. */
export type ArchivePart = { startByte: number; sizeBytes: number; sha256: string };

/** A wheel of the index of Python packages. */
export type Wheel = {
  project: string;
  /** The name of the wheel's file. */
  archive: string;
  archiveSha256: string;
  part: ArchivePart;
  members: readonly ZipMember[];
};

type WheelSource = { kind: 'wheel' } & Wheel;

/** Wheels with a model for CTranslate2, which is converted after the download. */
export type ConvertedSource = {
  kind: 'converted';
  /** Members of one path are parts of one file, in this order. */
  wheels: readonly Wheel[];
  /** The files in the wheels. */
  inputs: readonly ModelFile[];
  /** The files that are made of them; those of other sources may differ in their bytes. */
  files: readonly ModelFile[];
  /** Of these files. */
  attribution: string;
};

/** A package of the npm registry. */
type NpmSource = { kind: 'npm'; package: string; version: string; part: ArchivePart; members: readonly TarMember[] };

/** An archive is pinned by its digest, so the places of files in it are constants. */
export type ArchiveSource = WheelSource | NpmSource;

export type ModelSource = ({ kind: 'hub' } & HubSource) | ArchiveSource | ConvertedSource;

export type PublishedWer = {
  percent: number;
  testSet: string;
  source: string;
  /** Whether the source was looked up; other figures are marked where they are shown. */
  isChecked: boolean;
};

/**
 * Cosine distances of embeddings that belong to an embedding model.
 * @property cluster  above it two short parts of speech are not joined to one voice
 * @property join     below it two voices, each by the mean of its speech, are one speaker
 */
export type SpeakerThresholds = { cluster: number; join: number };

/** A model in the catalogue. */
export type Model = {
  /** The name in commands, and of the folder. */
  name: string;
  title: string;
  /**
   * `streaming` transcribes live sessions only; `vad` is a voice detector and `speakers` tells voices apart: they
   * transcribe nothing.
   */
  family: 'parakeet-tdt' | 'parakeet-ctc' | 'whisper' | 'moonshine' | 'streaming' | 'vad' | 'speakers';
  files: readonly ModelFile[];
  /** Where the files come from: of several, the first one that works. */
  sources: readonly ModelSource[];
  licence: string;
  /** The attribution that the licence requires. */
  attribution: string;
  /** BCP 47 codes; empty for models that transcribe nothing. */
  languages: readonly string[];
  wer: PublishedWer | null;
  /** Approximate memory of one engine process; each slot has one. */
  needsMemoryMb: number;
  /** Recommended use, in one line. */
  advice: string;
  /** Of the family `speakers`. */
  speakerThresholds?: SpeakerThresholds;
};

/**
 * Whether the model transcribes jobs: streaming models, voice detectors and speaker models work beside one that does.
 */
export function isSpeechModel({ family }: Pick<Model, 'family'>): boolean {
  return family !== 'streaming' && family !== 'vad' && family !== 'speakers';
}

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

/** The files of a model as they are when they come from this source. */
export function filesFrom(model: Pick<Model, 'files'>, source: ModelSource): readonly ModelFile[] {
  return source.kind === 'converted' ? source.files : model.files;
}

/** Whom the licence of the files of this source asks to name. */
export function attributionFrom(model: Pick<Model, 'attribution'>, source: ModelSource): string {
  return source.kind === 'converted' ? source.attribution : model.attribution;
}

/** The size of all files in bytes. */
export function sizeOfModel(model: Pick<Model, 'files'>): number {
  return model.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

/** The origin of files, with its version. */
export function describeSource(source: ModelSource): string {
  switch (source.kind) {
    case 'hub':
      return `${source.repository} at ${source.revision} on the hub`;
    case 'converted':
      return `${source.wheels.map(({ archive }) => archive).join(' and ')} of the index of Python packages, converted`;
    case 'wheel':
      return `${source.archive} of the index of Python packages`;
    case 'npm':
      return `${source.package} ${source.version} of the npm registry`;
  }
}
