import { freePort } from './service.ts';

const USUAL_PORT = 8080;

/**
 * The port of PORT, which must be free: whoever names a port expects the service there.
 * Without PORT, 8080 or a free one.
 * @throws Error  that says what to do, when PORT is no port or is in use
 */
export async function demoPort(wanted: string | undefined): Promise<number> {
  if (!wanted) return freePort(USUAL_PORT);
  const port = Number(wanted);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new Error(`PORT must be a whole number from 1 to 65535, not "${wanted}".`);
  }
  if ((await freePort(port)) !== port) {
    throw new Error(
      `Port ${port} is in use. Set PORT to another one, or leave it out: then the demo takes a free one.`,
    );
  }
  return port;
}
