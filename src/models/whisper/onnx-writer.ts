/** Bytes of a file that is written: in memory, or read when their turn comes. */
export type Part = Buffer | { sizeBytes: number; read(): Promise<Buffer> };

/** Numbers of the fields and types that we write. Source: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto */
const TYPES = { float: 1, uint8: 2, int64: 7 };
const ATTRIBUTE = { float: 1, int: 2, ints: 7 };
const [FIXED_32, LENGTH_DELIMITED] = [5, 2];
const IR_VERSION = 8;
const OPERATOR_SET = 13;

export type ElementType = keyof typeof TYPES;
export type Dimension = number | string;
export type OnnxGraph = {
  nodes: Buffer[];
  constants: Part[][];
  inputs: Buffer[];
  outputs: Buffer[];
};
export type Attributes = Record<string, number | number[] | { float: number }>;

/** The bytes of an ONNX model. @param operatorSet  the version of the operators */
export function modelParts(
  graph: OnnxGraph,
  metadata: Record<string, string>,
  { name = 'graph', operatorSet = OPERATOR_SET } = {},
): Part[] {
  const graphParts = [
    ...graph.nodes.map((node) => message(1, node)),
    text(2, name),
    ...graph.constants.flatMap((constant) => messageParts(5, constant)),
    ...graph.inputs.map((input) => message(11, input)),
    ...graph.outputs.map((output) => message(12, output)),
  ];
  return [
    integer(1, IR_VERSION),
    ...messageParts(7, graphParts),
    message(8, text(1, ''), integer(2, operatorSet)),
    ...Object.entries(metadata).map(([key, value]) => message(14, text(1, key), text(2, value))),
  ];
}

/** One step of the graph; attributes are whole numbers, lists of them, or floats. */
export function node(
  operator: string,
  inputs: readonly string[],
  outputs: string | readonly string[],
  attributes: Attributes = {},
): Buffer {
  return Buffer.concat([
    ...inputs.map((name) => text(1, name)),
    ...[outputs].flat().map((name) => text(2, name)),
    text(4, operator),
    ...Object.entries(attributes).map(([name, value]) => message(5, attribute(name, value))),
  ]);
}

/** A constant of the graph. @param bytes  the values in order of the dimensions, little endian */
export function constant(name: string, type: ElementType, dimensions: readonly number[], bytes: Part): Part[] {
  return [
    ...dimensions.map((size) => integer(1, size)),
    integer(2, TYPES[type]),
    text(8, name),
    ...messageParts(9, [bytes]),
  ];
}

/** A constant of values in memory. */
export function tensor(
  name: string,
  dimensions: readonly number[],
  values: Float32Array | BigInt64Array | Uint8Array,
): Part[] {
  const type = values instanceof Float32Array ? 'float' : values instanceof Uint8Array ? 'uint8' : 'int64';
  return constant(name, type, dimensions, Buffer.from(values.buffer, values.byteOffset, values.byteLength));
}

/** An input or output; a dimension with a name is free. */
export function port(name: string, type: ElementType, dimensions: readonly Dimension[]): Buffer {
  const shape = dimensions.map((size) => message(1, typeof size === 'string' ? text(2, size) : integer(1, size)));
  const tensorType = [integer(1, TYPES[type]), message(2, ...shape)];
  return Buffer.concat([text(1, name), message(2, message(1, ...tensorType))]);
}

function attribute(name: string, value: Attributes[string]): Buffer {
  if (Array.isArray(value)) {
    return Buffer.concat([text(1, name), integer(20, ATTRIBUTE.ints), ...value.map((one) => integer(8, one))]);
  }
  if (typeof value === 'number') {
    return Buffer.concat([text(1, name), integer(20, ATTRIBUTE.int), integer(3, value)]);
  }
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value.float);
  return Buffer.concat([text(1, name), integer(20, ATTRIBUTE.float), varint(2 * 8 + FIXED_32), bytes]);
}

function message(field: number, ...parts: Buffer[]): Buffer {
  return Buffer.concat(messageParts(field, parts) as Buffer[]);
}

function messageParts(field: number, parts: readonly Part[]): Part[] {
  const sizeBytes = parts.reduce((sum, part) => sum + (Buffer.isBuffer(part) ? part.length : part.sizeBytes), 0);
  return [varint(field * 8 + LENGTH_DELIMITED), varint(sizeBytes), ...parts];
}

function text(field: number, value: string): Buffer {
  return message(field, Buffer.from(value));
}

function integer(field: number, value: number): Buffer {
  return Buffer.concat([varint(field * 8), varint(value)]);
}

/** Seven bits to a byte, the lowest first; negative numbers as 64 bits. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}
