import { type Model, ModelError, type ModelFile, type ModelSource, type PublishedWer } from './model.ts';
import { WHISPER_BASE_WHEELS } from './whisper-base-wheels.ts';

const NVIDIA = 'NVIDIA (nvidia/parakeet), exported to ONNX by the sherpa-onnx project';
const OPENAI = 'OpenAI (Whisper), exported to ONNX by the sherpa-onnx project';
const USEFUL_SENSORS = 'Useful Sensors (Moonshine), exported to ONNX by the sherpa-onnx project';

export const EUROPEAN = 'bg cs da de el en es et fi fr hr hu it lt lv mt nl pl pt ro ru sk sl sv uk'.split(' ');
export const WHISPER_LANGUAGES: readonly string[] = (
  'en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml cy ' +
  'sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi lo ' +
  'uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su'
).split(' ');

/** All multilingual sizes have the same token file. */
const WHISPER_TOKENS = {
  sizeBytes: 816_730,
  sha256: 'b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126',
};

/**
 * The models that `verbatim models` knows, best first for each purpose. Of several that know a language the first
 * serves it; Whisper base comes behind Moonshine, which takes a sixth of its processor time.
 *
 * Revisions, sizes and SHA-256 come from several public projects that pin the same files and agree with each other. WER
 * are the published ones of the full precision models; int8 differs by some hundredths to tenths of a percent.
 */
export const CATALOGUE: readonly Model[] = [
  {
    name: 'parakeet-0.6b-v2',
    title: 'Parakeet TDT 0.6B v2, int8',
    family: 'parakeet-tdt',
    sources: [hub('csukuangfj/sherpa-onnx-nemo-parakeet-tdt-0.6b-v2-int8', '1ab9323565ddb038682214b292f588070a538ce2')],
    files: [
      file('encoder.int8.onnx', 652_184_296, 'a32b12d17bbbc309d0686fbbcc2987b5e9b8333a7da83fa6b089f0a2acd651ab'),
      file('decoder.int8.onnx', 7_257_753, 'b6bb64963457237b900e496ee9994b59294526439fbcc1fecf705b31a15c6b4e'),
      file('joiner.int8.onnx', 1_739_080, '7946164367946e7f9f29a122407c3252b680dbae9a51343eb2488d057c3c43d2'),
      file('tokens.txt', 9_384, 'ec182b70dd42113aff6c5372c75cac58c952443eb22322f57bbd7f53977d497d'),
    ],
    licence: 'CC-BY-4.0',
    attribution: NVIDIA,
    languages: ['en'],
    wer: leaderboard(6.05),
    needsMemoryMb: 1500,
    advice: 'English, the most accurate here',
  },
  {
    name: 'parakeet-0.6b-v3',
    title: 'Parakeet TDT 0.6B v3, int8',
    family: 'parakeet-tdt',
    sources: [hub('csukuangfj/sherpa-onnx-nemo-parakeet-tdt-0.6b-v3-int8', '2bda32ec70b097a55adaa07d9a7173915b43cc78')],
    files: [
      file('encoder.int8.onnx', 652_184_281, 'acfc2b4456377e15d04f0243af540b7fe7c992f8d898d751cf134c3a55fd2247'),
      file('decoder.int8.onnx', 11_845_275, '179e50c43d1a9de79c8a24149a2f9bac6eb5981823f2a2ed88d655b24248db4e'),
      file('joiner.int8.onnx', 6_355_277, '3164c13fc2821009440d20fcb5fdc78bff28b4db2f8d0f0b329101719c0948b3'),
      file('tokens.txt', 93_939, 'd58544679ea4bc6ac563d1f545eb7d474bd6cfa467f0a6e2c1dc1c7d37e3c35d'),
    ],
    licence: 'CC-BY-4.0',
    attribution: NVIDIA,
    languages: EUROPEAN,
    wer: leaderboard(6.32),
    needsMemoryMb: 1500,
    advice: 'European languages, detected by the model; as fast as v2',
  },
  {
    name: 'parakeet-110m',
    title: 'Parakeet TDT-CTC 110M (its CTC half), int8',
    family: 'parakeet-ctc',
    // The sherpa-onnx project publishes this int8 export as an archive only; this repository holds the same bytes.
    sources: [hub('VocaHQ/sherpa-onnx-nemo-parakeet-tdt-ctc-110m-en-int8', '548291ccad79f80d9fb75b2de04cc8f6e4f45342')],
    files: [
      file('model.int8.onnx', 131_652_171, '9177a9146cf32ee0cc8152276ef95116f312018d316be37ccf57f7efea81fc1a'),
      file('tokens.txt', 9_953, '450e56bd2f036fe5b6aa821865838cc5aa9d8b0106134ce9a9ba0664abe6cd10'),
    ],
    licence: 'CC-BY-4.0',
    attribution: NVIDIA,
    languages: ['en'],
    wer: leaderboard(7.49),
    needsMemoryMb: 600,
    advice: 'English, small and fast: start with this one',
  },
  whisper('turbo', 'csukuangfj/sherpa-onnx-whisper-turbo', '2ca6ff69fc878651b770880507669577ac41c2ff', {
    encoder: [674_716_297, 'b02dcdf54f348741e93fe732b67d933c8dcb6735655f710640143081db38878b'],
    decoder: [361_080_764, '20accd02388482eb3a46bd615631adfdc85e1eb2c7db9ea3f02a40ffe6b81547'],
    wer: leaderboard(7.83),
    needsMemoryMb: 3500,
    advice: 'languages that Parakeet does not know; slower than real time on a small machine',
  }),
  whisper('medium', 'csukuangfj/sherpa-onnx-whisper-medium', '8c31d28503847560985df21f90e14f0c736e075e', {
    encoder: [374_196_283, '1c54582b4d829de0089f6cb63bbbdb3bf7555398bacaf855fbecf1a84dfd193e'],
    decoder: [571_059_257, '595d00a338a365a7bfa0ca7f296cabc639583bef770ab6130df90f49a6412747'],
    wer: librispeech(2.9, true),
    needsMemoryMb: 3000,
    advice: 'any language on a strong machine; turbo is faster and mostly better',
  }),
  whisper('small', 'csukuangfj/sherpa-onnx-whisper-small', '8f3c18b358db4d1f2fc1eae49d75cd20989e4309', {
    encoder: [112_442_483, '4cbe7b22fa9026b843b60a68640c747de05bafb1a11b57edc0e66c232d9f33a9'],
    decoder: [262_226_114, 'acad50b5c782696e91b55914cc5ab4f756f1532f76e22aa6fc615f39fb69a8ee'],
    wer: librispeech(3.43, true),
    needsMemoryMb: 1500,
    advice: 'any language with little memory',
  }),
  {
    name: 'moonshine-base',
    title: 'Moonshine base, English, int8',
    family: 'moonshine',
    sources: [hub('csukuangfj/sherpa-onnx-moonshine-base-en-int8', '052b0798ad1bf046a140fdd4efcd9426530fa3f5')],
    files: [
      file('preprocess.onnx', 14_077_290, 'ffa630d395c5ccf76f5d4954be5b882df76aaf6491519ec01fd82ea7a3819fb2'),
      file('encode.int8.onnx', 50_311_494, '7e38770f776f2e5583a53b052936005df2ba5c833d7e09c2a5fd796b94bf73e2'),
      file(
        'uncached_decode.int8.onnx',
        122_120_451,
        'c01f4b35093bcac20d352d23a75a539e772964579f9d024a90e5e6f09cae9987',
      ),
      file('cached_decode.int8.onnx', 99_983_837, '2db74e51cedf64a8b1be3c8192e0bb5e4923af0e90bd9e87f8e8771873f8ea03'),
      file('tokens.txt', 436_688, '1165c2aeb9f72f457a83be2d459a09054f27490acd9b41bd43794dfd25e296ea'),
    ],
    licence: 'MIT',
    attribution: USEFUL_SENSORS,
    languages: ['en'],
    wer: leaderboard(9.99),
    needsMemoryMb: 800,
    advice: 'English under the MIT licence',
  },
  {
    name: 'moonshine-tiny',
    title: 'Moonshine tiny, English, int8',
    family: 'moonshine',
    sources: [
      {
        kind: 'wheel',
        project: 'moonshine-voice',
        archive: 'moonshine_voice-0.0.49-py3-none-manylinux_2_34_x86_64.whl',
        archiveSha256: '03edc378e5236832421ccd382b267e43b95af8008137ad6643f5baf5ba31b579',
        part: {
          startByte: 47_929_304,
          sizeBytes: 28_874_463,
          sha256: 'b3575491fbfab13705e243ec7016eb16ac522d3c1751d07dd4d9c035761c6ebf',
        },
        members: [
          { path: 'decoder_model_merged.ort', offset: 0, packedBytes: 22_554_562 },
          { path: 'encoder_model.ort', offset: 22_554_640, packedBytes: 6_186_072 },
          { path: 'tokenizer.bin', offset: 28_740_786, packedBytes: 133_677 },
        ],
      },
    ],
    files: [
      file('encoder_model.ort', 13_281_600, '94e90a4654fc45cdfedb77c4c08e1739f48862998e58fada384b25118134f221'),
      file('decoder_model_merged.ort', 30_412_256, 'cf524c4862d36e9e5ab032eddc73637efd822d70e868ac575cf1a46e1e4708a0'),
      file('tokenizer.bin', 249_974, '6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d'),
      {
        ...file('tokens.txt', 506_918, '6ccce83f3cf2bd3dec5d2e7c99727280ced275978cf25ee8a609f3907b673537'),
        tokensOf: 'tokenizer.bin',
      },
    ],
    licence: 'MIT',
    attribution: 'Useful Sensors (Moonshine)',
    languages: ['en'],
    wer: leaderboard(12.65),
    needsMemoryMb: 400,
    advice: 'English on the smallest machines, under the MIT licence; needs no hub',
  },
  whisper('base', 'csukuangfj/sherpa-onnx-whisper-base', 'bb53ee204431c90d314c1cc08d28d23e5b7927cc', {
    encoder: [29_120_534, '0b8fb1304b6109976038efff5ace81720e00386f3ff6b54ee8c75291ca0a1e11'],
    decoder: [130_672_026, '9759d217388a01b3a4c7c15533201067b48ae819c4daafc8624e64b9409dc02d'],
    wer: librispeech(5.01, true),
    needsMemoryMb: 850,
    advice: 'any language; six times the processor time of moonshine-tiny, half its errors; needs no hub',
    others: [WHISPER_BASE_WHEELS],
  }),
  whisper('tiny', 'csukuangfj/sherpa-onnx-whisper-tiny', '65176e2deb88badc814a94058666cadccc29b61c', {
    encoder: [12_937_772, 'd24fb083ae3b1041fc24e97971d60e280c9342201fbb67b0ab428a8b4a51a434'],
    decoder: [89_855_401, 'd2fece8dd42771f1df975c6c0445770d0c292bf7547c2cae04a6c0cc57540925'],
    wer: librispeech(7.54, false),
    needsMemoryMb: 500,
    advice: 'to try whether a language works at all',
  }),
  {
    name: 'streaming-nemotron',
    title: 'Nemotron Speech Streaming 0.6B, English, 560 ms, int8',
    family: 'streaming',
    sources: [
      hub(
        'csukuangfj2/sherpa-onnx-nemotron-speech-streaming-en-0.6b-560ms-int8-2026-04-25',
        '52056fdc070914a48dcd68b31b44d6a6f5b85902',
      ),
    ],
    files: [
      file('encoder.int8.onnx', 652_916_849, '7d932213491ad355c6e5576705dc3494731a52af87d7a1b954559340147909d8'),
      file('decoder.int8.onnx', 7_257_753, '0be9702c2f427a2b6bb241d298e0d3836a558de1f5b9fd3018f1cce6e2b3fa98'),
      file('joiner.int8.onnx', 1_735_862, 'a35eac38a22ebceb04d230ed7afe0d68f446ba6914a036b97f14fece95967e23'),
      file('tokens.txt', 8_952, 'dc0b4584ab2e4ddbf888425c076c61b736e7356a015250db7d307e6f1a8188ff'),
    ],
    licence: 'NVIDIA Open Model License',
    attribution: 'NVIDIA (nvidia/nemotron-speech-streaming-en-0.6b), exported to ONNX by the sherpa-onnx project',
    languages: ['en'],
    wer: null,
    needsMemoryMb: 1500,
    advice: 'live sessions in English, with capitals and punctuation; needs a strong machine',
  },
  {
    name: 'streaming-fastconformer',
    title: 'FastConformer streaming transducer, English, 480 ms, int8',
    family: 'streaming',
    sources: [
      hub(
        'csukuangfj/sherpa-onnx-nemo-streaming-fast-conformer-transducer-en-480ms-int8',
        'df8ed95e44a70924450381e610770f9d656d1e15',
      ),
    ],
    files: [
      file('encoder.int8.onnx', 131_507_603, '100c5616929a131b5b3c8c8ab0d83aaba2cdcae163acd8d190b4e5ffa5f7d051'),
      file('decoder.int8.onnx', 3_955_864, '4f04431988472f8c7b815f942aa6901976929c9e22353029681fcdb262da0164'),
      file('joiner.int8.onnx', 1_408_182, 'd2d8e7290a6a8245a83ed211aa0dd8cdf8effb8a7c64fe392399561111b52f30'),
      file('tokens.txt', 11_896, '618dc110fc2213886b52e063ff42329bbdf37a266ca7705184090fa5f39f3131'),
    ],
    licence: 'CC-BY-4.0',
    attribution: 'NVIDIA (stt_en_fastconformer_hybrid_large_streaming), exported to ONNX by the sherpa-onnx project',
    languages: ['en'],
    wer: null,
    needsMemoryMb: 600,
    advice: 'live sessions in English on a small machine',
  },
  {
    name: 'streaming-zipformer',
    title: 'Zipformer streaming transducer, English, 320 ms, int8',
    family: 'streaming',
    sources: [
      hub('csukuangfj/sherpa-onnx-streaming-zipformer-en-2023-06-26', '672fbf1b30579d6585301139bb363f42a0ad4a24'),
    ],
    files: [
      file(
        'encoder-epoch-99-avg-1-chunk-16-left-128.int8.onnx',
        71_083_163,
        '563fde436d16cf7607cf408cd6b30909819d03162652ef389c2450ced3f45ac1',
      ),
      file(
        'decoder-epoch-99-avg-1-chunk-16-left-128.onnx',
        2_092_621,
        '7bf787f90b194b307e5a4ad6a34fadb4e748304c35f78a8d66358a05b13ee6ef',
      ),
      file(
        'joiner-epoch-99-avg-1-chunk-16-left-128.int8.onnx',
        259_335,
        'd944208d660d67c8d72cd2acaeac971fa5ceb8c80e76c1968148846fedd6e297',
      ),
      file('tokens.txt', 5_048, '49e3c2646595fd907228b3c6787069658f67b17377c60aeb8619c4551b2316fb'),
    ],
    licence: 'Apache-2.0',
    attribution: 'icefall (k2-fsa), trained on LibriSpeech, exported to ONNX by the sherpa-onnx project',
    languages: ['en'],
    wer: null,
    needsMemoryMb: 300,
    advice: 'live sessions in English on the smallest machines, under the Apache licence; read speech',
  },
  {
    name: 'silero-vad',
    title: 'Silero VAD',
    family: 'vad',
    sources: [
      {
        kind: 'npm',
        package: '@ricky0123/vad-web',
        version: '0.0.31',
        part: {
          startByte: 0,
          sizeBytes: 5_471_324,
          sha256: 'd1a211cf1a2ed26297da52cc08de79e75d79838a274bfc6de546feb1f828c940',
        },
        members: [{ path: 'silero_vad.onnx', offset: 320_512 }],
      },
      hub('csukuangfj/vad', 'fba88cd2e921609e7675c3aaf51e0b9b295da4bc'),
    ],
    files: [file('silero_vad.onnx', 1_807_522, 'a35ebf52fd3ce5f1469b2a36158dba761bc47b973ea3382b3186ca15b1f5af28')],
    licence: 'MIT',
    attribution: 'Silero Team (snakers4/silero-vad)',
    languages: [],
    wer: null,
    needsMemoryMb: 140,
    advice: 'finds where speech is, beside any engine; transcribes nothing',
  },
  {
    name: 'speakers',
    title: 'Speakers: pyannote segmentation 3.0 and TitaNet small',
    family: 'speakers',
    sources: [hub('csukuangfj/sherpa-onnx-pyannote-segmentation-3-0', '9403a6902bb58e3d5ae8c7e77c3422de279db2e0')],
    files: [
      file('model.onnx', 5_992_913, '220ad67ca923bef2fa91f2390c786097bf305bceb5e261d4af67b38e938e1079'),
      {
        ...file(
          'nemo_en_titanet_small.onnx',
          40_257_283,
          'ad4a1802485d8b34c722d2a9d04249662f2ece5d28a7a039063ca22f515a789e',
        ),
        source: {
          repository: 'csukuangfj/speaker-embedding-models',
          revision: '0743f301363dec56491a490f6d6cbc9d67f9a3bf',
        },
      },
    ],
    licence: 'MIT (segmentation), CC-BY-4.0 (TitaNet)',
    attribution:
      'CNRS (pyannote/segmentation-3.0) and NVIDIA (TitaNet small), exported to ONNX by the sherpa-onnx project',
    languages: [],
    wer: null,
    needsMemoryMb: 1000,
    advice: 'tells speakers apart (diarize=true), beside any engine; transcribes nothing',
    // Between the values at which published tests with embeddings of this kind had the fewest errors;
    // not measured here.
    speakerThresholds: { cluster: 0.7, join: 0.45 },
  },
];

/** What a service without a model fetches by itself: the first one whose source can be reached. */
export const FIRST_MODELS = ['parakeet-110m', 'moonshine-tiny'];

/** What every service fetches by itself. */
export const VOICE_DETECTOR = 'silero-vad';

/** @throws ModelError  that lists the known names */
export function findModel(name: string, catalogue: readonly Model[] = CATALOGUE): Model {
  const model = catalogue.find((one) => one.name === name);
  if (model) return model;
  throw new ModelError(
    'unknown_model',
    `There is no model ${name}. There are: ${catalogue.map((one) => one.name).join(', ')}.`,
  );
}

function file(path: string, sizeBytes: number, sha256: string): ModelFile {
  return { path, sizeBytes, sha256 };
}

function hub(repository: string, revision: string): ModelSource {
  return { kind: 'hub', repository, revision };
}

type WhisperSize = Pick<Model, 'wer' | 'needsMemoryMb' | 'advice'> & {
  encoder: [sizeBytes: number, sha256: string];
  decoder: [sizeBytes: number, sha256: string];
  /** Sources beside the hub. */
  others?: readonly ModelSource[];
};

function whisper(
  size: string,
  repository: string,
  revision: string,
  { encoder, decoder, others = [], ...rest }: WhisperSize,
): Model {
  return {
    name: `whisper-${size}`,
    title: `Whisper ${size === 'turbo' ? 'large-v3-turbo' : size}, int8`,
    family: 'whisper',
    sources: [hub(repository, revision), ...others],
    files: [
      file(`${size}-encoder.int8.onnx`, ...encoder),
      file(`${size}-decoder.int8.onnx`, ...decoder),
      { path: `${size}-tokens.txt`, ...WHISPER_TOKENS },
    ],
    licence: 'MIT',
    attribution: OPENAI,
    languages: WHISPER_LANGUAGES,
    ...rest,
  };
}

function leaderboard(percent: number): PublishedWer {
  return { percent, testSet: 'mean of 8 English sets', source: 'Open ASR Leaderboard', isChecked: true };
}

function librispeech(percent: number, isChecked: boolean): PublishedWer {
  return { percent, testSet: 'LibriSpeech test-clean', source: 'model card of openai/whisper', isChecked };
}
