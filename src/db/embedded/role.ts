import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { syncFolder } from '../../platform/files/durable-names.ts';
import { postgresEnvironment } from './libraries.ts';
import { asPostgresUser } from './place.ts';
import type { Programs } from './programs.ts';

/** Owns the cluster; it cannot log in. */
export const SUPERUSER = 'verbatim';
/** The role of the service: the owner of its database and of all its tables, without other rights. */
const SERVICE_ROLE = 'service';
const DATABASE = 'postgres';

const LOGIN_RULES = `# Written by the service. Only its own role may log in, not even the superuser.
local all ${SERVICE_ROLE} scram-sha-256
`;
// Includes the recovery of a cluster that was not shut down.
const SETUP_TIMEOUT_MS = 120_000;

export type RolePlace = {
  dir: string;
  cluster: string;
  settings: Record<string, string>;
  programs: Programs;
  /** For tests, which create a database each. */
  mayCreateDatabases: boolean;
};

/**
 * Creates the role of the service, once for a cluster, before PostgreSQL accepts connections. A cluster of an earlier
 * release, where the service was superuser without a password, is changed.
 * The file with the password is written last, so that an interrupted setup is repeated.
 */
export async function prepareRole(place: RolePlace): Promise<void> {
  if (fs.existsSync(passwordFile(place.dir))) return;
  const password = randomBytes(32).toString('base64url');
  await runAsSuperuser(place, setupSql(password, place.mayCreateDatabases));
  // PostgreSQL's user must be able to read it; as root, that is another user.
  writeWhole(path.join(place.cluster, 'pg_hba.conf'), LOGIN_RULES, fs.statSync(place.cluster));
  writeWhole(passwordFile(place.dir), `${password}\n`);
}

/** `postgres://…` with the password, for the socket in the folder given. */
export function serviceUrl(dir: string, socket: string): string {
  const password = fs.readFileSync(passwordFile(dir), 'utf8').trim();
  return `postgres://${SERVICE_ROLE}:${password}@localhost/${DATABASE}?host=${encodeURIComponent(socket)}`;
}

/** The file whose existence says that the cluster was made and has its role. */
export function passwordFile(dir: string): string {
  return path.join(dir, 'service-password');
}

/** Statements end with a semicolon and an empty line. */
function setupSql(password: string, mayCreateDatabases: boolean): string {
  // Iterations make guessing slow, which 256 random bits do not need, and they would slow down every connection.
  return `
set scram_iterations = 1;

do $$
begin
  if not exists (select from pg_roles where rolname = '${SERVICE_ROLE}') then
    create role ${SERVICE_ROLE};
  end if;
end
$$;

alter role ${SERVICE_ROLE}
  with login nosuperuser nocreaterole noreplication nobypassrls ${mayCreateDatabases ? 'createdb' : 'nocreatedb'}
  password '${password}';

alter database ${DATABASE} owner to ${SERVICE_ROLE};

do $$
declare
  name regclass;
begin
  for name in
    select oid
    from pg_class
    where relnamespace = 'public'::regnamespace
      and relkind in ('r', 'p', 'S')
      and not exists (
        select
        from pg_depend
        where classid = 'pg_class'::regclass and objid = pg_class.oid and relkind = 'S' and deptype in ('a', 'i')
      )
  loop
    execute format('alter table %s owner to ${SERVICE_ROLE}', name);
  end loop;
end
$$;

`;
}

/** Runs statements in PostgreSQL's single-user mode: without a socket, a login or other connections. */
async function runAsSuperuser({ dir, cluster, settings, programs }: RolePlace, sql: string): Promise<void> {
  const flags = Object.entries({ ...settings, exit_on_error: 'on' }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const options = ['--single', '-j', '-D', cluster, ...flags, DATABASE];
  const [command, ...args] = asPostgresUser(dir, [path.join(programs.bin, 'postgres'), ...options]);
  const env = postgresEnvironment(dir, programs.packageFolder);
  const server = spawn(command!, args, { cwd: '/', env, stdio: ['pipe', 'ignore', 'pipe'] });
  const timer = setTimeout(() => server.kill('SIGKILL'), SETUP_TIMEOUT_MS);
  let complaint = '';
  server.stderr.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk).slice(-4_000);
  });
  // If it has ended already, the exit code shows that.
  server.stdin.on('error', () => undefined).end(sql);
  const [code] = await once(server, 'close').finally(() => clearTimeout(timer));
  if (code !== 0) throw new Error(`The role of the service could not be made in ${cluster}: ${complaint.trim()}`);
}

/** Writes a file of mode 0600 atomically, and makes its contents and its name durable. */
function writeWhole(file: string, text: string, owner?: { uid: number; gid: number }): void {
  const draft = `${file}.new`;
  fs.writeFileSync(draft, text, { mode: 0o600, flush: true });
  if (owner && process.getuid?.() === 0) fs.chownSync(draft, owner.uid, owner.gid);
  fs.renameSync(draft, file);
  syncFolder(path.dirname(file));
}
