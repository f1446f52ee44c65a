import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { BYTE_OF_CHARACTER, CHARACTER_OF_BYTE } from '../../../models/whisper/tokens.ts';
import type { TimedTokens } from './trim-pauses.ts';

// sherpa-onnx removes the bytes of a token that are no whole characters, from its text as well. Whisper writes half of
// the characters of Japanese as several tokens. So sherpa-onnx gets tokens with a character for each byte.

/** What a decoder gives for bytes that are no character, as at the end of a text that was cut. */
const UNREADABLE = '\uFFFD';

/** Tokens with a character for each byte, in a file of their own for as long as `use` takes. */
export async function withPrintableTokens<Result>(tokens: string, use: (file: string) => Promise<Result>) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'verbatim-tokens-'));
  try {
    const file = path.join(folder, 'tokens.txt');
    writeFileSync(file, printableTokens(readFileSync(tokens, 'utf8')));
    return await use(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param tokens  a line of `base64 id` for each */
function printableTokens(tokens: string): string {
  return tokens.replace(/^([A-Za-z0-9+/]+=*)(?= )/gm, (_, base64: string) => {
    const characters = Array.from(Buffer.from(base64, 'base64'), (byte) => CHARACTER_OF_BYTE[byte]);
    return Buffer.from(characters.join('')).toString('base64');
  });
}

/** The result with the text of its bytes. Tokens that are parts of one character are one token. */
export function readPrintable<Result extends TimedTokens>(result: Result): Result {
  const { tokens = [], timestamps = [], durations = [] } = result;
  const hasTimes = timestamps.length === tokens.length && durations.length === tokens.length;
  const whole: Required<Omit<TimedTokens, 'text'>> = {
    tokens: [],
    timestamps: [],
    durations: [],
  };
  const decoder = new TextDecoder('utf8', { ignoreBOM: true });
  let [start, end, isWhole] = [0, 0, true];
  for (const [index, token] of tokens.entries()) {
    const text = decoder.decode(bytesOf(token), { stream: true }).replaceAll(UNREADABLE, '');
    if (isWhole) start = timestamps[index] ?? 0;
    end = (timestamps[index] ?? 0) + (durations[index] ?? 0);
    isWhole = text !== '' || token === '';
    if (!isWhole) continue;
    whole.tokens.push(text);
    whole.timestamps.push(start);
    whole.durations.push(end - start);
  }
  const text = new TextDecoder().decode(bytesOf(result.text)).replaceAll(UNREADABLE, '');
  return { ...result, text, ...(hasTimes ? whole : { tokens: whole.tokens, timestamps: [], durations: [] }) };
}

function bytesOf(characters: string): Uint8Array {
  return Uint8Array.from(Array.from(characters, (character) => BYTE_OF_CHARACTER.get(character) ?? 0x20));
}
