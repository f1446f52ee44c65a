import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { dataPaths } from '../config/settings.ts';

const OF_SERVICE = './data';
const OF_DEMO = './data-demo';

/**
 * The data directory that a command works on: DATA_DIR, else that of the service or of the demo, whichever runs in this
 * folder, or is the only one that is there.
 */
export function dataFolder(env: NodeJS.ProcessEnv): string {
  if (env['DATA_DIR']) return env['DATA_DIR'];
  const demo = env['DEMO_DATA_DIR'] || OF_DEMO;
  const running = [OF_SERVICE, demo].find(isInUse);
  if (running) return running;
  return existsSync(demo) && !existsSync(OF_SERVICE) ? demo : OF_SERVICE;
}

/** Whether the process lives that has opened the embedded database last. */
function isInUse(dataDir: string): boolean {
  try {
    const pid = Number(readFileSync(path.join(dataPaths(dataDir).database, 'owner.pid'), 'utf8'));
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    // It belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
