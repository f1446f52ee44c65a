/** Instructions of WebAssembly, which leave their results on the stack or in variables. */
export type Code = readonly number[];
/** A parameter or a variable of a function. */
export type Local = number;

/**
 * A function that returns nothing. Its locals are numbered from 0: the parameters, more whole numbers, then vectors of
 * four floats, which begin as zeros.
 */
export type Kernel = { parameters: number; integers: number; vectors: number; body: Code };

const MAGIC_AND_VERSION = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const SECTION = { types: 1, imports: 2, functions: 3, exports: 7, code: 10 };
const TYPE = { integer: 0x7f, vector: 0x7b, function: 0x60, memory: 0x02 };
const [ANY_SIZE, EXPORTED_FUNCTION, NO_RESULT, END] = [0x00, 0x00, 0x40, 0x0b];
/** As powers of two. */
const [FLOAT_ALIGNMENT, VECTOR_ALIGNMENT] = [2, 4];

/** The module that works on the imported memory `memory.floats` and exports the functions by their names. */
export function assemble(kernels: Record<string, Kernel>): WebAssembly.Module {
  const functions = Object.values(kernels);
  const bytes = [
    ...MAGIC_AND_VERSION,
    ...section(
      SECTION.types,
      functions.map(({ parameters }) => [TYPE.function, ...list(Array(parameters).fill([TYPE.integer])), ...list([])]),
    ),
    ...section(SECTION.imports, [[...text('memory'), ...text('floats'), TYPE.memory, ANY_SIZE, 1]]),
    ...section(
      SECTION.functions,
      functions.map((_, index) => [index]),
    ),
    ...section(
      SECTION.exports,
      Object.keys(kernels).map((name, index) => [...text(name), EXPORTED_FUNCTION, index]),
    ),
    ...section(
      SECTION.code,
      functions.map(({ integers, vectors, body }) => {
        const variables = list([
          [...unsigned(integers), TYPE.integer],
          [...unsigned(vectors), TYPE.vector],
        ]);
        return sized([...variables, ...body, END]);
      }),
    ),
  ];
  return new WebAssembly.Module(Uint8Array.from(bytes));
}

export const get = (local: Local): Code => [0x20, ...unsigned(local)];
export const set = (local: Local, value: Code): Code => [...value, 0x21, ...unsigned(local)];
export const integer = (value: number): Code => [0x41, ...signed(value)];
export const plus = (one: Code, other: Code): Code => [...one, ...other, 0x6a];
export const times = (one: Code, other: Code): Code => [...one, ...other, 0x6c];
export const advance = (local: Local, by: Code): Code => set(local, plus(get(local), by));

/** The body `count` times, 1 or more; counts the local down. */
export function repeat(count: Local, body: Code): Code {
  return [0x03, NO_RESULT, ...body, ...advance(count, integer(-1)), ...get(count), 0x0d, 0x00, END];
}

/** The code for each number below the count, one after the other. */
export function each(count: number, code: (at: number) => Code): Code {
  return Array.from({ length: count }, (_, at) => code(at)).flat();
}

/** Four floats from the address plus an offset in bytes. */
export const load = (address: Local, offset = 0): Code => access(0x00, get(address), VECTOR_ALIGNMENT, offset);
/** One float four times. */
export const spread = (address: Local): Code => access(0x09, get(address), FLOAT_ALIGNMENT, 0);
export const store = (address: Local, value: Code, offset = 0): Code =>
  access(0x0b, [...get(address), ...value], VECTOR_ALIGNMENT, offset);

export const floats = (value: number): Code => constant(Float32Array.of(value, value, value, value));
export const integers = (value: number): Code => constant(Int32Array.of(value, value, value, value));

// Of vectors of four floats.
export const add = (one: Code, other: Code): Code => operation(0xe4, one, other);
export const multiply = (one: Code, other: Code): Code => operation(0xe6, one, other);
export const divide = (one: Code, other: Code): Code => operation(0xe7, one, other);
export const minimum = (one: Code, other: Code): Code => operation(0xe8, one, other);
export const maximum = (one: Code, other: Code): Code => operation(0xe9, one, other);
export const squareRoot = (value: Code): Code => operation(0xe3, value);
export const nearest = (value: Code): Code => operation(0x6a, value);
/** `one * other + sum`, rounded once where the processor can. */
export const multiplyAdd = (one: Code, other: Code, sum: Code): Code => operation(0x105, one, other, sum);

// Of vectors of four whole numbers: the bits of floats.
export const addIntegers = (one: Code, other: Code): Code => operation(0xae, one, other);
export const bitsOfBoth = (one: Code, other: Code): Code => operation(0x4e, one, other);
export const shiftRight = (value: Code, bits: number): Code => operation(0xac, value, integer(bits));
export const shiftLeft = (value: Code, bits: number): Code => operation(0xab, value, integer(bits));
export const asIntegers = (value: Code): Code => operation(0xf8, value);
export const asFloats = (value: Code): Code => operation(0xfa, value);

function operation(code: number, ...operands: Code[]): Code {
  return [...operands.flat(), 0xfd, ...unsigned(code)];
}

function access(code: number, operands: Code, alignment: number, offset: number): Code {
  return [...operands, 0xfd, code, alignment, ...unsigned(offset)];
}

function constant({ buffer }: Float32Array | Int32Array): Code {
  return [0xfd, 0x0c, ...new Uint8Array(buffer)];
}

function section(id: number, entries: Code[]): Code {
  return [id, ...sized(list(entries))];
}

function list(entries: Code[]): Code {
  return [...unsigned(entries.length), ...entries.flat()];
}

function sized(bytes: Code): Code {
  return [...unsigned(bytes.length), ...bytes];
}

function text(value: string): Code {
  return sized([...Buffer.from(value)]);
}

function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): Code {
  const isLast = value >= -0x40 && value < 0x40;
  return isLast ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
}
