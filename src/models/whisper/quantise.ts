/** The number that stands for 0: of 8 bits without a sign, which processors multiply without an overflow. */
export const ZERO_POINT = 128;
const LARGEST = 127;

// The value of each combination of the 16 bits.
const FLOATS = Float32Array.from({ length: 65_536 }, (_, bits) => {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  const value = exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -value : value;
});

/** 16-bit floats as 32-bit floats. */
export function widen(halves: Uint16Array): Float32Array<ArrayBuffer> {
  const floats = new Float32Array(halves.length);
  for (let index = 0; index < halves.length; index += 1) floats[index] = FLOATS[halves[index]!]!;
  return floats;
}

/** @property values  around ZERO_POINT; value minus ZERO_POINT, times the scale of its column, is the weight */
export type Quantised = { values: Uint8Array<ArrayBuffer>; scales: Float32Array<ArrayBuffer> };

/**
 * A matrix of 16-bit floats in 8 bits, with a scale for each row, and transposed: row by row it has the weights of an
 * output, and MatMul wants the outputs as columns.
 */
export function quantiseTransposed(halves: Uint16Array, rows: number): Quantised {
  const columns = halves.length / rows;
  const [values, scales] = [new Uint8Array(halves.length), new Float32Array(rows)];
  for (let row = 0; row < rows; row += 1) {
    const start = row * columns;
    let largest = 0;
    for (let index = start; index < start + columns; index += 1) {
      largest = Math.max(largest, Math.abs(FLOATS[halves[index]!]!));
    }
    const scale = Math.fround(largest / LARGEST);
    scales[row] = scale;
    const factor = scale === 0 ? 0 : 1 / scale;
    for (let column = 0; column < columns; column += 1) {
      values[column * rows + row] = Math.round(FLOATS[halves[start + column]!]! * factor) + ZERO_POINT;
    }
  }
  return { values, scales };
}
