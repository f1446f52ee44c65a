import type { Command } from 'commander';
import { action, type Io, type Session } from '../../cli/command.ts';
import { CommandError } from '../../cli/exit.ts';
import { addWebOption } from '../../cli/terminal/browser.ts';
import type { Screen } from '../../cli/terminal/output.ts';
import { dataPaths, SETTINGS } from '../config/settings.ts';
import { CATALOGUE } from '../models/catalogue.ts';
import { ModelError } from '../models/model.ts';
import { list, type ModelsCommand, pull, remove } from '../models/pull/commands.ts';
import { modelOrigins } from '../models/sources/origins.ts';
import { dataFolder } from './running-folder.ts';

/** `verbatim models`: needs no running service, it works on the folder of models. */
export function define(command: Command, io: Io): void {
  command.addHelpText(
    'after',
    '\nModels are kept in DATA_DIR/models; without DATA_DIR in that of the service or the demo that runs here.\n' +
      'They come from the hub that HF_ENDPOINT names, and from the registries that pip and npm use.\n',
  );
  addWebOption(command.command('list'), () => 'operator/models')
    .description('all models, with licence, languages, word error rate and size')
    .action(
      action(io, async (session) => {
        const { out } = session;
        if (out.mode === 'ids') for (const { name } of CATALOGUE) out.line(name);
        else await run(session, io.stdout, (options) => list(out.mode === 'json', options));
      }),
    );
  command
    .command('pull')
    .description('download a model and check it; the next pull goes on where this one was interrupted')
    .argument('<name>')
    .action(
      action<[string]>(io, (session, _options, name) => run(session, io.stderr, (options) => pull(name, options))),
    );
  command
    .command('remove')
    .description('delete a model')
    .argument('<name>')
    .action(
      action<[string]>(io, (session, _options, name) => run(session, io.stderr, (options) => remove(name, options))),
    );
}

async function run(
  { io: { env, signal } }: Session,
  screen: Screen,
  command: (options: ModelsCommand) => Promise<void>,
): Promise<void> {
  const hub = SETTINGS.hubUrl.read(env[SETTINGS.hubUrl.env] || SETTINGS.hubUrl.fallback);
  if ('mistake' in hub) throw new CommandError(`${SETTINGS.hubUrl.env} ${hub.mistake}.`);
  const modelsDir = dataPaths(dataFolder(env)).models;
  try {
    await command({ modelsDir, origins: modelOrigins({ hubUrl: hub.value }, env), screen, signal });
  } catch (error) {
    throw error instanceof ModelError ? new CommandError(error.message, undefined, { cause: error }) : error;
  }
}
