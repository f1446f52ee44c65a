import { startDeliverer } from '../../webhooks/deliveries/worker.ts';
import { openSecretBoxOf } from '../../webhooks/secrets/secrets.ts';
import type { RoleContext, RunningRole } from './role.ts';

export const plansOnce = true;

/** Sends due deliveries to their receivers. */
export async function start({
  config,
  order,
  db,
  log,
  clock,
  metrics,
  tracer,
  report,
}: RoleContext): Promise<RunningRole> {
  const deliverer = await startDeliverer({
    db,
    config,
    secretBox: openSecretBoxOf(order.secretsKeysBase64),
    log,
    clock,
    metrics,
    tracer,
    holder: order.holder,
  });
  report({ ready: true, reasons: [] });
  return { stop: () => deliverer.stop() };
}
