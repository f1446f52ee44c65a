import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseExactly } from '../../exact-json.ts';
import { CommandError, UsageError } from '../../exit.ts';
import type { ForwardedEvent } from '../delivery/local-delivery.ts';

/**
 * Lets the user change the body of an event in the program that VISUAL or EDITOR names. Null when nothing was changed.
 * @throws CommandError  when the editor cannot be started, or its text is not an event in JSON
 */
export async function editEvent(event: ForwardedEvent, env: NodeJS.ProcessEnv): Promise<ForwardedEvent | null> {
  const editor = env['VISUAL'] || env['EDITOR'] || (process.platform === 'win32' ? 'notepad' : 'vi');
  // Only its owner may read the folder: the body holds a transcript.
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'verbatim-'));
  try {
    const file = path.join(folder, 'event.json');
    const before = `${JSON.stringify(parseExactly(event.body), null, 2)}\n`;
    fs.writeFileSync(file, before);
    // The name of the editor may have arguments.
    const child = spawn(`${editor} "${file}"`, { shell: true, stdio: 'inherit', env });
    const [code] = await once(child, 'close');
    if (code !== 0) throw new CommandError(`${editor} ended with ${code}: set EDITOR to your editor.`);
    const after = fs.readFileSync(file, 'utf8');
    return after === before ? null : readEvent(after);
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

function readEvent(text: string): ForwardedEvent {
  let value: unknown;
  try {
    value = parseExactly(text);
  } catch (cause) {
    throw new UsageError(`The text is not JSON: ${(cause as Error).message}`, { cause });
  }
  const { id, type } = (value ?? {}) as { id?: unknown; type?: unknown };
  if (typeof id !== 'string' || typeof type !== 'string') throw new UsageError('An event has an id and a type.');
  return { id, type, body: JSON.stringify(value) };
}
