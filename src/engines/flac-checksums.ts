const CRC8 = tableOf(0x07, 8);
const CRC16 = tableOf(0x8005, 16);

/** The checksum of a FLAC frame's header. */
export function crc8(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) sum = CRC8[sum ^ byte]!;
  return sum;
}

/** The checksum of a whole FLAC frame. */
export function crc16(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) sum = ((sum << 8) & 0xffff) ^ CRC16[(sum >> 8) ^ byte]!;
  return sum;
}

function tableOf(polynomial: number, bits: 8 | 16): Uint16Array {
  const top = 1 << (bits - 1);
  return Uint16Array.from({ length: 256 }, (_, index) => {
    let sum = index << (bits - 8);
    for (let bit = 0; bit < 8; bit += 1) sum = sum & top ? (sum << 1) ^ polynomial : sum << 1;
    return sum & (2 ** bits - 1);
  });
}
