import { parseObject } from '../messages.ts';

/** What a client sent: an event without its audio, and the audio of `input_audio_buffer.append` in base64. */
export type RealtimeEvent = { fields: Record<string, unknown>; audio: string | null };

/** A message that is not served, and the field at fault. */
export type BadEvent = { bad: string; param: string | null };

/** Of a message without its audio: what JSON.parse makes of more can keep the event loop for seconds. */
const JSON_MAX_CHARS = 65_536;
// To parse a string with this number of escapes takes 5 ms.
const ESCAPED_MAX_CHARS = 2 ** 20;
const AUDIO_KEY = '"audio"';
const BACKSLASH = '\\'.charCodeAt(0);

/** Reads a message of a client. Only what is beside the audio is parsed, and it is at most 64 KiB. */
export function readRealtimeEvent(text: string): RealtimeEvent | BadEvent {
  const found = takeAudioOut(text);
  if (found === null) {
    return { bad: `A message has at most ${JSON_MAX_CHARS} characters beside its audio.`, param: null };
  }
  const fields = parseObject(found.json);
  if (fields === null) return { bad: 'A message must be a JSON object.', param: null };
  const audio = found.audio?.includes('\\') ? unescaped(found.audio) : found.audio;
  if (audio === undefined) {
    return { bad: 'audio must be a string of base64, of at most 1 MiB where it has escapes.', param: 'audio' };
  }
  return { fields, audio };
}

/** The text with an empty string in place of its top-level `audio`; null where too much of it is no audio. */
function takeAudioOut(text: string): { json: string; audio: string | null } | null {
  let json = '';
  let audio: string | null = null;
  let [at, copied, depth] = [0, 0, 0];
  // The key whose value comes next, and whether the next string is a key: of the outermost object only.
  let [key, isKey] = ['', false];
  while (at < text.length) {
    if (json.length + at - copied > JSON_MAX_CHARS) return null;
    const char = text[at]!;
    if (char !== '"') {
      if (char === '{' || char === '[') depth += 1;
      else if (char === '}' || char === ']') depth -= 1;
      if (depth === 1 && (char === '{' || char === ',')) isKey = true;
      at += 1;
      continue;
    }
    const end = endOfString(text, at);
    if (depth === 1 && !isKey && key === AUDIO_KEY) {
      json += `${text.slice(copied, at)}""`;
      audio = text.slice(at + 1, end - 1);
      copied = end;
    } else if (end - at > JSON_MAX_CHARS) return null;
    if (depth === 1) key = isKey ? text.slice(at, end) : '';
    isKey = false;
    at = end;
  }
  json += text.slice(copied);
  return json.length > JSON_MAX_CHARS ? null : { json, audio };
}

/**
 * The position after the closing quote of the string that begins there; the end of the text where there is none, or
 * where its escapes are too many to be looked at.
 */
function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH && backslashes < JSON_MAX_CHARS) backslashes += 1;
    if (backslashes % 2 === 0 && backslashes < JSON_MAX_CHARS) return quote + 1;
    if (quote - start > JSON_MAX_CHARS) break;
  }
  return text.length;
}

/** Writers of JSON escape slashes, and some of them pluses. Undefined where the string is not JSON, or is too long. */
function unescaped(audio: string): string | undefined {
  if (audio.length > ESCAPED_MAX_CHARS) return undefined;
  try {
    return JSON.parse(`"${audio}"`) as string;
  } catch {
    return undefined;
  }
}
