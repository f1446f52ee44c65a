import { findSandbox, PROTECTIONS, type Sandbox } from '../audio/sandbox/sandbox.ts';
import type { Config } from '../config/settings.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';

/** The settings require a sandbox that this machine does not allow; the message says what to do. */
export class SandboxError extends Error {
  constructor({ missing, reason }: Sandbox) {
    super(
      `AUDIO_SANDBOX=require, and decoders cannot be isolated here; missing: ${missing.join(', ')} (${reason}). ` +
        'Install bubblewrap (apt-get install bubblewrap) and let it make namespaces, as docs/sandbox.md says, ' +
        'or set AUDIO_SANDBOX=best-effort.',
    );
    this.name = 'SandboxError';
  }
}

/**
 * The sandbox of all processes of this node; null for a node that opens no audio. Logs one line about it.
 * @throws SandboxError  when all protections are required and one is missing
 */
export async function prepareSandbox(
  { roles, toolsDir, audioSandbox }: Config,
  log: Pick<Log, 'info' | 'warn'>,
): Promise<Sandbox | null> {
  if (!roles.includes('api') && !roles.includes('transcriber')) return null;
  const sandbox = await findSandbox({ folder: toolsDir });
  const { kind, missing, reason } = sandbox;
  if (missing.length === 0) log.info({ sandbox: kind }, 'decoders of audio run with all protections');
  else if (audioSandbox === 'require') throw new SandboxError(sandbox);
  else log.warn({ sandbox: kind, missing, reason }, 'decoders of audio run without some protections');
  return sandbox;
}

/** Sets the metric of each protection: 1 if it is active, 0 if it is missing. */
export function showProtections(gauge: Metrics['sandboxProtection'], { missing }: Sandbox): void {
  for (const protection of PROTECTIONS) gauge.set({ protection }, missing.includes(protection) ? 0 : 1);
}
