import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { freePort } from '../../src/demo/service.ts';
import { until } from '../fixtures/until.ts';

export type Registry = {
  /** The environment of npm and npx: this registry, and folders of its own for their cache. */
  env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
};

/**
 * A registry of npm packages on this machine, to which everybody may publish below @verbatim. Other packages come from
 * the registry that npm has here.
 * @param verdaccio  folder in whose node_modules verdaccio is
 */
export async function startRegistry(verdaccio: string, folder: string): Promise<Registry> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const [upstream, cache] = ['registry', 'cache'].map(settingOfNpm) as [string, string];
  fs.mkdirSync(path.join(folder, 'cache/_cacache'), { recursive: true });
  // The contents that npm has fetched before, by their hashes.
  const contents = path.join(cache, '_cacache/content-v2');
  fs.mkdirSync(contents, { recursive: true });
  fs.symlinkSync(contents, path.join(folder, 'cache/_cacache/content-v2'));
  fs.writeFileSync(path.join(folder, 'config.yaml'), configuration(upstream));
  fs.writeFileSync(path.join(folder, 'npmrc'), `//127.0.0.1:${port}/:_authToken=nobody\n`);
  const program = path.join(verdaccio, 'node_modules/verdaccio/bin/verdaccio');
  const args = [program, '--config', path.join(folder, 'config.yaml'), '--listen', `127.0.0.1:${port}`];
  const child = spawn(process.execPath, args, {
    cwd: folder,
    // It warns root that it needs no rights.
    env: { ...process.env, NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await untilAnswered(`${url}-/ping`, child);
  return {
    env: {
      ...withoutNpm(process.env),
      PATH: `${path.dirname(process.execPath)}:${process.env['PATH']}`,
      npm_config_registry: url,
      npm_config_userconfig: path.join(folder, 'npmrc'),
      npm_config_cache: path.join(folder, 'cache'),
      npm_config_ignore_scripts: 'true',
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_update_notifier: 'false',
    },
    async stop() {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

function settingOfNpm(name: string): string {
  return execFileSync('npm', ['config', 'get', name], { encoding: 'utf8' }).trim();
}

function configuration(upstream: string): string {
  return `storage: ./storage
web: { enable: false }
uplinks:
  upstream: { url: "${upstream}", cache: false, maxage: 60m }
packages:
  "@verbatim/*": { access: $all, publish: $all }
  "**": { access: $all, proxy: upstream }
log: { type: stdout, level: error }
`;
}

/** Of `npm test`, which tells the npm that it starts where it is. */
function withoutNpm(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^npm_/i.test(name)));
}

async function untilAnswered(url: string, child: ChildProcess): Promise<void> {
  await until('verdaccio', async () => {
    if (child.exitCode !== null) throw new Error(`verdaccio ended with code ${child.exitCode}.`);
    return (await fetch(url).catch(() => null))?.ok;
  });
}
