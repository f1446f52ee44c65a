type Entry = { name: Uint8Array; content: Uint8Array; crc: number; offset: number };

// The signatures of the records, and the flag that names are UTF-8 (APPNOTE.TXT of PKWARE, 4.3 and 4.4.4).
const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const END_RECORD = 0x06054b50;
const UTF8_NAMES = 0x0800;
const VERSION = 20;

/** A ZIP archive of files, uncompressed. Names must differ. @param at  the time of the files */
export function writeZip(files: readonly { name: string; content: Uint8Array<ArrayBuffer> }[], at: Date): Blob {
  const encoder = new TextEncoder();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const entries: Entry[] = [];
  let offset = 0;
  const add = (part: Uint8Array<ArrayBuffer>) => {
    parts.push(part);
    offset += part.length;
  };
  for (const { name, content } of files) {
    const entry = { name: encoder.encode(name), content, crc: crc32(content), offset };
    entries.push(entry);
    add(record([32, LOCAL_HEADER], ...common(entry, at)));
    add(encoder.encode(name));
    add(content);
  }
  const start = offset;
  for (const entry of entries) {
    // Comment, disk and attributes: none.
    const rest: Field[] = [
      [16, 0],
      [16, 0],
      [16, 0],
      [32, 0],
      [32, entry.offset],
    ];
    add(record([32, CENTRAL_HEADER], [16, VERSION], ...common(entry, at), ...rest));
    add(entry.name as Uint8Array<ArrayBuffer>);
  }
  const count = entries.length;
  add(record([32, END_RECORD], [16, 0], [16, 0], [16, count], [16, count], [32, offset - start], [32, start], [16, 0]));
  return new Blob(parts, { type: 'application/zip' });
}

/** A number in 16 or 32 bits. */
type Field = readonly [bits: 16 | 32, value: number];

function common({ name, content, crc }: Entry, at: Date): Field[] {
  const time = (at.getHours() << 11) | (at.getMinutes() << 5) | (at.getSeconds() >> 1);
  const date = ((at.getFullYear() - 1980) << 9) | ((at.getMonth() + 1) << 5) | at.getDate();
  return [
    ...([
      [16, VERSION],
      [16, UTF8_NAMES],
      [16, 0],
      [16, time],
      [16, date],
      [32, crc],
    ] as const),
    ...([
      [32, content.length],
      [32, content.length],
      [16, name.length],
      [16, 0],
    ] as const),
  ];
}

/** The numbers in the order of bytes that the format has: least significant first. */
function record(...fields: Field[]): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(fields.reduce((sum, [bits]) => sum + bits / 8, 0)));
  let at = 0;
  for (const [bits, value] of fields) {
    if (bits === 16) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += bits / 8;
  }
  return new Uint8Array(view.buffer);
}

/** The checksum of ZIP and PNG. */
function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}
