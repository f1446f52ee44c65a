import { execFileSync } from 'node:child_process';
import type { DebianPackage } from './debian-tools.ts';
import { sourceSeconds } from './source.ts';

type Bill = { serialNumber?: string; metadata: { timestamp?: string }; components: object[] };

/**
 * The software bill of materials (CycloneDX, JSON) of the npm package in `folder` with its dependencies, without what
 * differs between two calls of npm.
 * @param added  further components
 */
export function billOfMaterials(folder: string, added: object[] = []): string {
  const options = ['--sbom-format=cyclonedx', '--sbom-type=application', '--omit=dev', '--package-lock-only'];
  const bill: Bill = JSON.parse(execFileSync('npm', ['sbom', ...options], { cwd: folder, encoding: 'utf8' }));
  delete bill.serialNumber;
  bill.metadata.timestamp = new Date(sourceSeconds() * 1000).toISOString();
  return `${JSON.stringify({ ...bill, components: [...bill.components, ...added] }, null, 2)}\n`;
}

/** A Debian package as a component. */
export function debianComponent({ name, version, architecture }: DebianPackage): object {
  const purl = `pkg:deb/debian/${name}@${encodeURIComponent(version)}?arch=${architecture}`;
  return { type: 'library', 'bom-ref': purl, name, version, purl };
}

/** Node as a component. */
export function nodeComponent(version: string): object {
  const purl = `pkg:generic/node@${version}`;
  return { type: 'platform', 'bom-ref': purl, name: 'node', version, purl };
}
