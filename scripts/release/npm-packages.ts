import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { buildCli } from '../build-cli.ts';
import { buildSdk } from '../build-sdk.ts';
import { buildServer } from '../build-server.ts';
import { billOfMaterials } from './bill-of-materials.ts';
import { VERSION } from './source.ts';

/** The other packages have no dependencies. */
const BILL = `verbatim-server-${VERSION}.cdx.json`;
const PACKAGES = { sdk: buildSdk, cli: buildCli, server: buildServer };

/**
 * Writes the npm packages as files for `npm publish` and `npm install`. REPOSITORY_URL goes into them: npm publishes a
 * provenance only with a package that names its repository.
 */
export async function writeNpmPackages(folder: string): Promise<void> {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'verbatim-release-'));
  try {
    for (const [name, build] of Object.entries(PACKAGES)) {
      const built = path.join(scratch, name);
      await build(built);
      const url = process.env['REPOSITORY_URL'];
      if (url) npm(['pkg', 'set', 'repository.type=git', `repository.url=git+${url}`], built);
      // npm gives all files the same time.
      if (name === 'server') fs.writeFileSync(path.join(folder, BILL), billOfMaterials(built));
      npm(['pack', '--silent', '--pack-destination', folder], built);
    }
  } finally {
    fs.rmSync(scratch, { recursive: true });
  }
}

function npm(args: string[], cwd: string): void {
  execFileSync('npm', args, { cwd, stdio: 'pipe' });
}
