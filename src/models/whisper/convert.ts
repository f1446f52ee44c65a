import { createWriteStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Ctranslate2Model } from './ctranslate2.ts';
import { type AlignmentHead, decoderGraph } from './decoder.ts';
import { encoderGraph } from './encoder.ts';
import { GraphBuilder, OPERATOR_SET } from './graph.ts';
import { modelParts, type Part } from './onnx-writer.ts';
import { type Tokenizer, whisperTokens } from './tokens.ts';

type Configuration = { alignment_heads: AlignmentHead[]; lang_ids: number[]; suppress_ids: number[] };
type Size = { heads: number; channels: number; layers: { encoder: number; decoder: number } };

/**
 * Makes the files that sherpa-onnx loads of a Whisper model for CTranslate2, whose `model.bin`, `config.json` and
 * `tokenizer.json` are in the folder. The matrices get 8 bits; one of them at a time is in memory.
 * @param size  Whisper's name for the size of the model, such as `base`, with which the names of the files begin
 */
export async function convertWhisper(folder: string, size: string): Promise<void> {
  const read = async (name: string) => JSON.parse(await readFile(path.join(folder, name), 'utf8')) as unknown;
  const config = (await read('config.json')) as Configuration;
  const tokenizer = (await read('tokenizer.json')) as Tokenizer;
  await using model = await Ctranslate2Model.open(path.join(folder, 'model.bin'));
  const shape = await sizeOf(model);
  const special = new Map(tokenizer.added_tokens.map(({ content, id }) => [content, id]));
  const metadata = metadataOf(model, shape, { size, config, special });
  // Weights are written layer by layer.
  const alignmentHeads = config.alignment_heads.toSorted(([one], [other]) => one - other);

  const encoder = modelParts(encoderGraph(new GraphBuilder(model, shape), shape.layers), metadata, {
    operatorSet: OPERATOR_SET,
  });
  await writeParts(encoder, path.join(folder, `${size}-encoder.int8.onnx`));
  const graph = decoderGraph(new GraphBuilder(model, shape), { layers: shape.layers.decoder, alignmentHeads });
  const decoder = modelParts(graph, {}, { operatorSet: OPERATOR_SET });
  await writeParts(decoder, path.join(folder, `${size}-decoder.int8.onnx`));
  const tokens = whisperTokens(tokenizer, special.get('<|endoftext|>')!);
  await writeFile(path.join(folder, `${size}-tokens.txt`), tokens, { flush: true });
}

async function sizeOf(model: Ctranslate2Model): Promise<Size> {
  const layersOf = (part: string) =>
    new Set(model.names.map((name) => new RegExp(`^${part}/layer_(\\d+)/`).exec(name)?.[1]).filter(Boolean)).size;
  return {
    heads: await model.integer('encoder/num_heads'),
    channels: model.dimensionsOf('encoder/conv1/weight')[0]!,
    layers: { encoder: layersOf('encoder'), decoder: layersOf('decoder') },
  };
}

/** What sherpa-onnx reads of the encoder's file. */
function metadataOf(
  model: Ctranslate2Model,
  { heads, channels, layers }: Size,
  { size, config, special }: { size: string; config: Configuration; special: ReadonlyMap<string, number> },
): Record<string, string> {
  const id = (name: string) => special.get(`<|${name}|>`)!;
  const languages = [...special].filter(([, one]) => config.lang_ids.includes(one));
  const values = {
    model_type: `whisper-${size}`,
    version: 2,
    n_mels: model.dimensionsOf('encoder/conv1/weight')[1]!,
    n_audio_ctx: model.dimensionsOf('encoder/position_encodings/encodings')[0]!,
    n_audio_state: channels,
    n_audio_head: heads,
    n_audio_layer: layers.encoder,
    n_vocab: model.dimensionsOf('decoder/embeddings/weight')[0]!,
    n_text_ctx: model.dimensionsOf('decoder/position_encodings/encodings')[0]!,
    n_text_state: channels,
    n_text_head: heads,
    n_text_layer: layers.decoder,
    sot_sequence: [id('startoftranscript'), id('en'), id('transcribe')],
    all_language_tokens: languages.map(([, one]) => one),
    all_language_codes: languages.map(([name]) => name.slice(2, -2)),
    sot: id('startoftranscript'),
    sot_index: 0,
    eot: id('endoftext'),
    blank_id: 220,
    is_multilingual: 1,
    no_speech: special.get('<|nospeech|>') ?? id('nocaptions'),
    non_speech_tokens: config.suppress_ids,
    transcribe: id('transcribe'),
    translate: id('translate'),
    sot_prev: id('startofprev'),
    sot_lm: id('startoflm'),
    no_timestamps: id('notimestamps'),
    n_alignment_heads: config.alignment_heads.length,
  };
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)]));
}

async function writeParts(parts: readonly Part[], target: string): Promise<void> {
  async function* bytes() {
    for (const part of parts) yield Buffer.isBuffer(part) ? part : await part.read();
  }
  await pipeline(bytes(), createWriteStream(target, { flush: true }));
}
