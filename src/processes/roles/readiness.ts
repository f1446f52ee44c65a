import type { Sandbox } from '../../audio/sandbox/sandbox.ts';
import type { SharedStorage } from '../../audio/storage/storage.ts';
import type { Role } from '../../config/settings.ts';
import type { NodeReadiness, Readiness } from '../../http/service/service-routes.ts';
import { waitAtMost } from '../../platform/clock.ts';
import { reasonOfMissingFile } from '../../platform/files/missing-file.ts';
import { findProgram } from '../../platform/tools.ts';
import type { Part } from '../../rules/network/connection-share.ts';
import { type RoleStatus, starting } from '../messages.ts';
import { openDatabaseReadiness } from '../readiness/database-readiness.ts';
import { diskReasons } from '../readiness/disk-readiness.ts';
import type { RoleContext } from './role.ts';

const MEASURE_WAIT_MS = 3_000;

/**
 * Whether the node is ready: its database with the right schema and a row that can be written, its disks, its audio
 * storage, its decoder, and the status that each role's process last reported.
 */
export function openReadiness(
  context: Pick<RoleContext, 'config' | 'db' | 'clock' | 'order' | 'onMessage' | 'metrics'>,
  storage: Pick<SharedStorage, 'whyAway'>,
): Readiness & { measure(): Promise<void> } {
  const { config, order, onMessage, clock, metrics } = context;
  const databaseReasons = openDatabaseReadiness(context, order.holder.split('/')[0]!);
  // Not ready until the parent has sent the first statuses.
  let statuses: Partial<Record<Part, RoleStatus>> = Object.fromEntries(
    config.roles.filter(runsElsewhere).map((part) => [part, starting(part)]),
  );
  onMessage((message) => {
    if (message.kind === 'statuses') statuses = message.statuses;
  });
  const tools = { folder: config.toolsDir };
  const needsAudio = config.roles.includes('api') || config.roles.includes('transcriber');

  async function check(): Promise<NodeReadiness> {
    const reasons: string[] = [];
    const details = order.sandbox ? [describeSandbox(order.sandbox)] : [];
    const [database, disks, storageAway] = await Promise.all([
      databaseReasons(),
      diskReasons(config),
      needsAudio ? storage.whyAway() : null,
    ]);
    reasons.push(...database, ...disks);
    const missingFile = reasonOfMissingFile();
    if (missingFile !== null) reasons.push(missingFile);
    if (storageAway !== null) reasons.push(`The audio storage cannot be used: ${storageAway}.`);
    if (needsAudio && !findProgram(tools, 'ffmpeg')) reasons.push('ffmpeg is missing. Type: apt-get install ffmpeg');
    const show = (part: string, isAway: boolean) => metrics.notReady.set({ part }, Number(isAway));
    show('database', database.length > 0);
    show('disk', disks.length > 0);
    show('storage', storageAway !== null);
    show(
      'role',
      Object.values(statuses).some(({ ready }) => !ready),
    );
    for (const status of Object.values(statuses)) {
      if (status.ready) continue;
      reasons.push(...status.reasons);
      details.push(...(status.details ?? []));
    }
    return { ready: reasons.length === 0, reasons, details };
  }

  let checking: Promise<NodeReadiness> | null = null;
  // Simultaneous calls share one check, and so one connection of the pool.
  const checkOnce = () => (checking ??= check().finally(() => (checking = null)));
  return {
    check: checkOnce,
    /** Updates `verbatim_not_ready`. A database that does not answer in time is away: a scrape must not wait longer. */
    async measure() {
      if (!(await waitAtMost(clock, checkOnce(), MEASURE_WAIT_MS))) metrics.notReady.set({ part: 'database' }, 1);
    },
  };
}

/** This process answers the request, so what it runs is ready. */
function runsElsewhere(role: Role): role is 'transcriber' | 'deliverer' {
  return role !== 'api' && role !== 'janitor';
}

function describeSandbox({ kind, missing, reason }: Sandbox): string {
  if (missing.length === 0) return `The sandbox of decoders (${kind}) has all protections.`;
  return `The sandbox of decoders (${kind}) lacks: ${missing.join(', ')}. Reason: ${reason}.`;
}
