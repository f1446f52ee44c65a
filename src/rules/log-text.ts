// Control characters (C0, DEL, C1) drive terminals; the others change the direction in which text is shown.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/**
 * A line of JSON of the log as a line for a terminal: time, level, role, message, and the other fields as `name=value`.
 * Text of strangers, such as a path, cannot control the terminal: control characters are shown as `\u001b`.
 * @param json  an object with `level`, `time` and `msg`
 */
export function textOfLogLine(json: string): string {
  const { level, time, role, msg, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const clock = String(time).slice(11, 19);
  const head = [clock, String(level).padEnd(5), String(role ?? ''), String(msg ?? '')].filter((part) => part !== '');
  const rest = Object.entries(fields).map(([name, value]) => `${name}=${textOf(value)}`);
  return `${[...head, ...rest].join(' ').replace(UNSAFE, escapeCharacter)}\n`;
}

/** A string of one plain word without quotes; all else as JSON. */
function textOf(value: unknown): string {
  return typeof value === 'string' && /^[\w./:@+-]+$/.test(value) ? value : JSON.stringify(value);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
