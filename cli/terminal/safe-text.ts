// Control characters (C0, DEL, C1) drive terminals; the others change the direction in which text is shown.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
const UNSAFE_IN_BLOCK = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Text for one line of a terminal: control characters, line ends included, become visible, such as `\x1b`. */
export function safeLine(text: string): string {
  return text.replace(UNSAFE, escapeCharacter);
}

/** Text of several lines for a terminal: line ends and tabs stay, other control characters become visible. */
export function safeBlock(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSAFE_IN_BLOCK, escapeCharacter);
}

/** JSON for a terminal: what JSON.stringify leaves as it is and terminals obey is written as `\u009b`. */
export function safeJson(json: string): string {
  return json.replace(UNSAFE_IN_BLOCK, (character) => `\\u${hex(character).padStart(4, '0')}`);
}

function escapeCharacter(character: string): string {
  const digits = hex(character);
  return digits.length <= 2 ? `\\x${digits.padStart(2, '0')}` : `\\u${digits.padStart(4, '0')}`;
}

function hex(character: string): string {
  return character.charCodeAt(0).toString(16);
}
