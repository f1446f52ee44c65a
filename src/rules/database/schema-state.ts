/** A migration that a database has, as its row in schema_versions says. */
export type AppliedMigration = {
  version: number;
  name: string;
  /** Of the file, in hex. */
  sha256: string | null;
  /** The release that applied it. */
  release: string | null;
};

/** A migration that this release knows. */
export type KnownMigration = { version: number; name: string; sha256: string };

/** How the schema of a database compares with the one that this release was written for. */
export type SchemaState =
  | { kind: 'same' }
  /** Migrations have to run. */
  | { kind: 'older'; missing: string[] }
  /** The database has migrations that this release does not know. */
  | { kind: 'newer'; newest: AppliedMigration; isNextRelease: boolean }
  /** A migration ran with another text than this release has. */
  | { kind: 'changed'; names: string[] };

/**
 * Compares the migrations of a database with those of this release. A changed migration comes before a newer one, and a
 * newer one before a missing one.
 * @param release  this release, such as 0.2.0
 */
export function compareSchema(
  applied: readonly AppliedMigration[],
  known: readonly KnownMigration[],
  release: string,
): SchemaState {
  const rows = new Map(applied.map((row) => [row.version, row]));
  const changed = known.filter(({ version, sha256 }) => rows.has(version) && rows.get(version)!.sha256 !== sha256);
  if (changed.length > 0) return { kind: 'changed', names: changed.map(({ name }) => name) };
  const versions = new Set(known.map(({ version }) => version));
  const unknown = applied.filter(({ version }) => !versions.has(version));
  if (unknown.length > 0) {
    const newest = unknown.reduce((latest, row) => (row.version > latest.version ? row : latest));
    const isNextRelease = unknown.every((row) => row.release !== null && isAtMostNext(row.release, release));
    return { kind: 'newer', newest, isNextRelease };
  }
  const missing = known.filter(({ version }) => !rows.has(version));
  return missing.length > 0 ? { kind: 'older', missing: missing.map(({ name }) => name) } : { kind: 'same' };
}

/** Whether a release is of the same minor version as `own`, of an earlier one, or of the next one. */
function isAtMostNext(release: string, own: string): boolean {
  const [major, minor] = release.split('.').map(Number);
  const [ownMajor, ownMinor] = own.split('.').map(Number);
  return major! < ownMajor! || (major === ownMajor && minor! <= ownMinor! + 1);
}
