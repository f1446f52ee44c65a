import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { buildServer } from '../build-server.ts';
import { billOfMaterials, debianComponent, nodeComponent } from './bill-of-materials.ts';
import { type DebianPackage, writeTools } from './debian-tools.ts';
import { pullShippedModels } from './shipped-models.ts';
import { ROOT, VERSION } from './source.ts';
import { writeTarball } from './tarball.ts';

const PLATFORM = `${process.platform}-${process.arch}`;
const NAME = `verbatim-${VERSION}-${PLATFORM}`;

const STARTER = `#!/bin/sh
# Runs Verbatim with the Node, the packages and the tools of this folder. Nothing is installed.
here=$(dirname -- "$(readlink -f -- "$0")")
export VERBATIM_COMMAND="$0" VERBATIM_INSTALL=off
[ ! -d "$here/tools" ] || export VERBATIM_TOOLS="\${VERBATIM_TOOLS:-$here/tools}"
exec "$here/node/bin/node" "$here/server/bin/verbatim" "$@"
`;

/**
 * Writes an archive for this platform with all that the service runs on: it needs no network and no other package. On
 * Linux the tools are Debian's. A small model for English is in it. Beside it is the bill of materials that is in it.
 */
export async function writeArchive(folder: string): Promise<void> {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'verbatim-archive-'));
  try {
    const place = path.join(scratch, NAME);
    const packages = process.platform === 'linux' ? await writeTools(path.join(place, 'tools')) : [];
    await buildServer(path.join(place, 'server'));
    await completeArchive(place, packages);
    fs.copyFileSync(path.join(place, 'sbom.cdx.json'), path.join(folder, `${NAME}.cdx.json`));
    writeTarball(path.join(folder, `${NAME}.tar.xz`), scratch, [NAME]);
  } finally {
    fs.rmSync(scratch, { recursive: true });
  }
}

/**
 * Adds what the archive has beside the service and the tools.
 * @param place  has the built server
 * @param packages  that the tools come from, for the bill of materials
 * @internal  a test runs it with the tools of the system
 */
export async function completeArchive(place: string, packages: DebianPackage[]): Promise<void> {
  const server = path.join(place, 'server');
  await pullShippedModels(path.join(server, 'assets/models'));
  const options = ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'];
  execFileSync('npm', ['ci', ...options], { cwd: server, stdio: ['ignore', 'ignore', 'inherit'] });
  removeUnloaded(path.join(server, 'node_modules'));
  const node = path.resolve(process.execPath, '../..');
  for (const file of ['bin/node', 'LICENSE']) fs.cpSync(path.join(node, file), path.join(place, 'node', file));
  fs.copyFileSync(path.join(ROOT, 'LICENSE'), path.join(place, 'LICENSE'));
  fs.writeFileSync(path.join(place, 'verbatim'), STARTER, { mode: 0o755 });
  const components = [nodeComponent(process.versions.node), ...packages.map(debianComponent)];
  fs.writeFileSync(path.join(place, 'sbom.cdx.json'), billOfMaterials(server, components));
}

/** Removes what only a compiler or a debugger reads. */
function removeUnloaded(folder: string): void {
  for (const file of fs.globSync(path.join(folder, '**/*.{map,d.ts,d.mts,d.cts}'))) fs.rmSync(file);
}
