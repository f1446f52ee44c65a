import path from 'node:path';
import { CATALOGUE } from '../catalogue.ts';
import { pulledModels, readManifest, removeModel } from '../folder.ts';
import { isSpeechModel, type Model, sizeOfModel } from '../model.ts';
import type { ModelOrigins } from '../sources/origins.ts';
import { megabytes, openProgress, type Screen } from './progress.ts';
import { pullModel } from './pull.ts';

export type ModelsCommand = {
  modelsDir: string;
  origins: ModelOrigins;
  screen: Screen;
  signal: AbortSignal;
  catalogue?: readonly Model[];
};

/** Pulls one model, shows the progress, and writes its licence, its attribution and how to use it. */
export async function pull(
  name: string,
  { modelsDir, origins, screen, signal, catalogue }: ModelsCommand,
): Promise<void> {
  const progress = openProgress(name, screen, () => performance.now());
  const options = { modelsDir, origins, signal, onProgress: progress.update, ...(catalogue && { catalogue }) };
  const { kind, folder } = await pullModel(name, options).finally(progress.end);
  const place = path.relative('.', folder) || folder;
  if (kind === 'already') {
    screen.write(`${name} is in ${place} already. To download it again, remove it first.\n`);
    return;
  }
  const model = (catalogue ?? CATALOGUE).find((one) => one.name === name)!;
  const { licence, attribution } = await readManifest(folder);
  screen.write(`${name} is in ${place}. Licence: ${licence}; name ${attribution}.\n`);
  screen.write(`A running service uses it within seconds${byName(model)}.\n`);
}

function byName(model: Model): string {
  const setting = model.family === 'streaming' ? 'ENGINE_LIVE_PRO' : isSpeechModel(model) ? 'ENGINE_PRO' : null;
  if (setting === null) return '';
  const uses =
    setting === 'ENGINE_PRO' ? 'for the languages that no model above it in the list knows' : 'where it is the best';
  return `, ${uses}; ${setting}=sherpa-onnx:${model.name} chooses it by name`;
}

/** Removes a pulled model. @throws ModelError */
export async function remove(name: string, { modelsDir, screen }: ModelsCommand): Promise<void> {
  await removeModel(name, modelsDir);
  screen.write(`${name} is removed.\n`);
}

/** Writes all models, pulled or not, as a table or as JSON. */
export async function list(
  asJson: boolean,
  { modelsDir, screen, catalogue = CATALOGUE }: ModelsCommand,
): Promise<void> {
  const pulled = await pulledModels(modelsDir);
  if (asJson) {
    const models = catalogue.map((model) => ({
      ...model,
      sizeBytes: sizeOfModel(model),
      isPulled: pulled.includes(model.name),
    }));
    screen.write(`${JSON.stringify(models, null, 2)}\n`);
    return;
  }
  const header = ['', 'name', 'size', 'WER', 'languages', 'licence', 'for'];
  const rows = catalogue.map((model) => describe(model, pulled.includes(model.name)));
  const others = pulled.filter((name) => catalogue.every((model) => model.name !== name));
  for (const line of align([header, ...rows])) screen.write(`${line}\n`);
  screen.write(
    '\n* pulled   WER: mean of eight English sets (Open ASR Leaderboard), † LibriSpeech test-clean (model card),\n',
  );
  screen.write('           ? not checked by us; all of full precision, while these are int8\n');
  screen.write(
    'Of the pulled models, the first that knows the language of a request transcribes it; without a language,\n',
  );
  screen.write('the first that knows several.\n');
  if (others.length > 0) screen.write(`Put there by hand: ${others.join(', ')}\n`);
}

function describe(model: Model, isPulled: boolean): string[] {
  const { name, wer, languages, licence, advice } = model;
  const known = languages.length > 3 ? `${languages.length} languages` : languages.join(' ') || '-';
  return [isPulled ? '*' : '', name, megabytes(sizeOfModel(model)), describeWer(wer), known, licence, advice];
}

function describeWer(wer: Model['wer']): string {
  if (wer === null) return '-';
  const set = wer.testSet.startsWith('LibriSpeech') ? ' †' : '';
  return `${wer.percent.toFixed(2)} %${set}${wer.isChecked ? '' : ' ?'}`;
}

function align(rows: string[][]): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}
