import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { ROOT, sourceSeconds } from './source.ts';

/** Writes the wheel and the source archive of the Python client. PYTHON_SDK names a Python that has hatchling. */
export function writePythonPackages(folder: string): void {
  const python = process.env['PYTHON_SDK'] || 'python3';
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(sourceSeconds()) };
  const args = ['-m', 'hatchling', 'build', '-t', 'sdist', '-t', 'wheel', '-d', folder];
  execFileSync(python, args, { cwd: path.join(ROOT, 'sdk/python'), env, stdio: 'pipe' });
}
