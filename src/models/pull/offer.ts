import { once } from 'node:events';
import { access, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { CATALOGUE, FIRST_MODEL } from '../catalogue.ts';
import { pulledModels } from '../folder.ts';
import { type HubSource, isSpeechModel, type Model, ModelError, sizeOfModel } from '../model.ts';
import { isHubReachable } from '../sources/hub.ts';
import type { ModelOrigins } from '../sources/origins.ts';
import { pull } from './commands.ts';
import { megabytes } from './progress.ts';

export type Offer = {
  modelsDir: string;
  origins: ModelOrigins;
  /** `ask` asks at the terminal; `pull` pulls without a question. */
  how: 'ask' | 'pull';
  /** What the reader types for the command. */
  command?: string;
  input: NodeJS.ReadableStream & { isTTY?: boolean | undefined };
  output: NodeJS.WritableStream & { isTTY?: boolean | undefined; columns?: number | undefined };
  signal: AbortSignal;
  catalogue?: readonly Model[];
  reachMs?: number;
  answerMs?: number;
};

/**
 * `present`: there is a model already. `not_asked`: there is no terminal, or the question was answered before.
 * `unreachable`: no hub responded in time. `failed`: the pull failed.
 */
export type Offered = 'present' | 'pulled' | 'declined' | 'not_asked' | 'unreachable' | 'failed';

const REACH_MS = 3000;
// The terminal of a service may be unattended.
const ANSWER_MS = 20_000;

/**
 * Offers or pulls the small English model on a machine without a model. Writes one line when it cannot; does not throw
 * for an unreachable hub, for which it waits at most `reachMs`.
 */
export async function offerFirstModel(offer: Offer): Promise<Offered> {
  const { modelsDir, origins, how, input, output, signal, catalogue = CATALOGUE, command = 'verbatim' } = offer;
  const model = catalogue.find(({ name }) => name === FIRST_MODEL)!;
  if (await hasSpeechModel(modelsDir, catalogue)) return 'present';
  if (how === 'ask' && (!input.isTTY || !output.isTTY || (await wasAsked(modelsDir)))) return 'not_asked';
  if (!(await isHubReachable(origins.hubUrl, hubSourceOf(model), offer.reachMs ?? REACH_MS))) {
    output.write(`Cannot reach ${origins.hubUrl} to download a better model: pocketsphinx is used.\n`);
    return 'unreachable';
  }
  if (how === 'ask' && !(await ask(model, offer))) return 'declined';
  try {
    await pull(model.name, { modelsDir, origins, signal, screen: output, catalogue });
    return 'pulled';
  } catch (error) {
    if (!(error instanceof ModelError) && !signal.aborted) throw error;
    const reason = error instanceof ModelError ? error.message : 'The pull was stopped.';
    output.write(`${reason} Going on without; \`${command} models pull ${model.name}\` tries again.\n`);
    return 'failed';
  }
}

function hubSourceOf({ sources }: Model): HubSource {
  return sources.find((source) => source.kind === 'hub')!;
}

async function hasSpeechModel(modelsDir: string, catalogue: readonly Model[]): Promise<boolean> {
  const others = catalogue.filter((model) => !isSpeechModel(model)).map(({ name }) => name);
  return (await pulledModels(modelsDir)).some((name) => !others.includes(name));
}

async function ask(model: Model, offer: Offer): Promise<boolean> {
  const { modelsDir, input, output, signal, command = 'verbatim', answerMs = ANSWER_MS } = offer;
  const terminal = createInterface({ input, output });
  const until = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
  const size = megabytes(sizeOfModel(model));
  output.write(`No speech model yet: pocketsphinx, which mishears many words, would be used.\n`);
  const question = `Fetch ${model.title} (English, ${size}, ${model.licence})? [y/N, no in ${Math.round(answerMs / 1000)} s] `;
  // readline consumes Ctrl-C; this passes it on to the service.
  terminal.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const closed = once(terminal, 'close').then(() => null);
  const answer = await Promise.race([terminal.question(question, { signal: until }).catch(() => null), closed]);
  terminal.close();
  if (answer === null) output.write('\n');
  if (/^y(es)?$/i.test(answer?.trim() ?? '')) return true;
  await noteAsked(modelsDir);
  output.write(`Not fetched, and not asked again; \`${command} models pull ${model.name}\` fetches it.\n`);
  return false;
}

function askedFile(modelsDir: string): string {
  return path.join(modelsDir, '.asked');
}

async function wasAsked(modelsDir: string): Promise<boolean> {
  return access(askedFile(modelsDir)).then(
    () => true,
    () => false,
  );
}

async function noteAsked(modelsDir: string): Promise<void> {
  await mkdir(modelsDir, { recursive: true, mode: 0o700 });
  await writeFile(askedFile(modelsDir), '');
}
