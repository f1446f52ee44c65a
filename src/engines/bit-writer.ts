/** Bits in the order of the most significant first, as FLAC wants them. */
export type BitWriter = {
  /** The lowest `count` bits of a value; at most 24. */
  write(value: number, count: number): void;
  /** So many zeros, then a one. */
  writeUnary(zeros: number): void;
  /** Zeros up to the next whole byte. */
  alignToByte(): void;
  /** Whole bytes so far. */
  position(): number;
  /** The bytes from a position on; a view. */
  since(position: number): Uint8Array;
  bytes(): Uint8Array<ArrayBuffer>;
};

/** @param maxBytes  the most that will be written; more is a RangeError */
export function openBitWriter(maxBytes: number): BitWriter {
  const buffer = new Uint8Array(maxBytes);
  let position = 0;
  let held = 0;
  let heldBits = 0;

  function write(value: number, count: number): void {
    held = (held << count) | (value & (2 ** count - 1));
    heldBits += count;
    while (heldBits >= 8) {
      heldBits -= 8;
      if (position === maxBytes) throw new RangeError(`more than ${maxBytes} bytes`);
      buffer[position++] = held >>> heldBits;
    }
    held &= (1 << heldBits) - 1;
  }

  return {
    write,
    writeUnary(zeros) {
      let left = zeros;
      for (; left >= 16; left -= 16) write(0, 16);
      write(1, left + 1);
    },
    alignToByte() {
      if (heldBits > 0) write(0, 8 - heldBits);
    },
    position: () => position,
    since: (from) => buffer.subarray(from, position),
    bytes: () => buffer.slice(0, position),
  };
}
