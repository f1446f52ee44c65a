/** The constants of a model's file by their names. */
export type Tensors = ReadonlyMap<string, Float32Array>;

/** Numbers of fields. Source: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto */
const FIELD = { graph: 7, node: 1, attribute: 5, branch: 6, constant: 5, name: 8, bytes: 9 };
const [VARINT, FIXED_64, WITH_LENGTH, FIXED_32] = [0, 1, 2, 5];

/** The constants of an ONNX model, those in branches of its graph too, each as if its bytes were floats. */
export function readTensors(model: Buffer): Tensors {
  const tensors = new Map<string, Float32Array>();
  for (const graph of fieldsOf(model, FIELD.graph)) readGraph(graph, tensors);
  return tensors;
}

/** @throws Error  when there is none of that name */
export function constantOf(tensors: Tensors, name: string | number): Float32Array {
  const constant = tensors.get(String(name));
  if (constant === undefined) throw new Error('The file is not the voice detector that is expected.');
  return constant;
}

function readGraph(graph: Buffer, tensors: Map<string, Float32Array>): void {
  for (const constant of fieldsOf(graph, FIELD.constant)) {
    const [name] = fieldsOf(constant, FIELD.name);
    const [bytes] = fieldsOf(constant, FIELD.bytes);
    if (name && bytes) tensors.set(name.toString(), floatsOf(bytes));
  }
  for (const node of fieldsOf(graph, FIELD.node)) {
    for (const attribute of fieldsOf(node, FIELD.attribute)) {
      for (const branch of fieldsOf(attribute, FIELD.branch)) readGraph(branch, tensors);
    }
  }
}

/** The fields of that number that have a length: messages, texts and bytes. */
function fieldsOf(message: Buffer, wanted: number): Buffer[] {
  const found: Buffer[] = [];
  for (let at = 0; at < message.length; ) {
    const { value: key, end } = readVarint(message, at);
    const [number, type] = [key >>> 3, key & 7];
    if (type === VARINT) at = readVarint(message, end).end;
    else if (type === FIXED_64) at = end + 8;
    else if (type === FIXED_32) at = end + 4;
    else if (type === WITH_LENGTH) {
      const length = readVarint(message, end);
      at = length.end + length.value;
      if (number === wanted) found.push(message.subarray(length.end, at));
    } else throw new Error(`A message has no field of type ${type}.`);
  }
  return found;
}

/** Of numbers of more than 32 bits only the end is right. */
function readVarint(bytes: Buffer, from: number): { value: number; end: number } {
  let value = 0;
  for (let at = from; ; at += 1) {
    const byte = bytes.readUInt8(at);
    value |= (byte & 0x7f) << (7 * (at - from));
    if (byte < 0x80) return { value: value >>> 0, end: at + 1 };
  }
}

function floatsOf(bytes: Buffer): Float32Array {
  const floats = new Float32Array(bytes.length >> 2);
  bytes.copy(Buffer.from(floats.buffer));
  return floats;
}
