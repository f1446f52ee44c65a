import assert from 'node:assert/strict';
import { type FileHandle, open } from 'node:fs/promises';

/** A variable of the file: its dimensions, and the place of its bytes. */
type Variable = { dimensions: number[]; type: number; offset: number; sizeBytes: number };

const VARIABLES_MAX = 10_000;
// The length of a name has 16 bits, and there are at most 255 dimensions.
const HEAD_MAX_BYTES = 2 + 65_535 + 1 + 255 * 4 + 1 + 4;
const INT_16 = 2;
const FLOAT_16 = 4;

/**
 * The weights of a model for CTranslate2, its `model.bin`: they stay in the file until they are read.
 * Source: https://github.com/OpenNMT/CTranslate2/blob/master/python/ctranslate2/specs/model_spec.py
 */
export class Ctranslate2Model implements AsyncDisposable {
  readonly #file: FileHandle;
  readonly #variables: ReadonlyMap<string, Variable>;

  private constructor(file: FileHandle, variables: ReadonlyMap<string, Variable>) {
    this.#file = file;
    this.#variables = variables;
  }

  static async open(path: string): Promise<Ctranslate2Model> {
    const file = await open(path);
    try {
      return new Ctranslate2Model(file, await readVariables(file));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  async [Symbol.asyncDispose]() {
    await this.#file.close();
  }

  get names(): string[] {
    return [...this.#variables.keys()];
  }

  has(name: string): boolean {
    return this.#variables.has(name);
  }

  dimensionsOf(name: string): number[] {
    return this.#variable(name).dimensions;
  }

  /** The values of 16-bit floats, as their bits. */
  async halfFloats(name: string): Promise<Uint16Array> {
    const variable = this.#variable(name);
    assert.equal(variable.type, FLOAT_16, `${name} holds 16-bit floats`);
    const { buffer } = await this.#read(variable);
    return new Uint16Array(buffer);
  }

  async integer(name: string): Promise<number> {
    const variable = this.#variable(name);
    assert.equal(variable.type, INT_16, `${name} is a number of 16 bits`);
    return new DataView((await this.#read(variable)).buffer).getInt16(0, true);
  }

  #variable(name: string): Variable {
    const variable = this.#variables.get(name);
    assert(variable, `the model has ${name}`);
    return variable;
  }

  async #read({ offset, sizeBytes }: Variable): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = new Uint8Array(sizeBytes);
    const { bytesRead } = await this.#file.read(bytes, 0, sizeBytes, offset);
    assert.equal(bytesRead, sizeBytes, 'the model is whole');
    return bytes;
  }
}

async function readVariables(file: FileHandle): Promise<Map<string, Variable>> {
  const head = new HeadReader(file);
  await head.fill();
  head.integer();
  head.name();
  head.integer();
  const count = head.integer();
  assert(count <= VARIABLES_MAX, `a model has at most ${VARIABLES_MAX} variables`);
  const variables = new Map<string, Variable>();
  for (let index = 0; index < count; index += 1) {
    await head.fill();
    const name = head.name();
    const dimensions = Array.from({ length: head.byte() }, () => head.integer());
    const type = head.byte();
    const sizeBytes = head.integer();
    variables.set(name, { dimensions, type, offset: head.offset, sizeBytes });
    head.offset += sizeBytes;
  }
  return variables;
}

/** Reads the small fields between the values. */
class HeadReader {
  /** In the file, of the next field. */
  offset = 0;
  readonly #file: FileHandle;
  #bytes = Buffer.alloc(HEAD_MAX_BYTES);
  #start = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Reads ahead at least what the head of one variable has. */
  async fill(): Promise<void> {
    this.#start = this.offset;
    await this.#file.read(this.#bytes, 0, this.#bytes.length, this.offset);
  }

  byte(): number {
    return this.#bytes.readUInt8(this.#advance(1));
  }

  integer(): number {
    return this.#bytes.readUInt32LE(this.#advance(4));
  }

  /** Ends with a zero, which counts. */
  name(): string {
    const length = this.#bytes.readUInt16LE(this.#advance(2));
    const at = this.#advance(length);
    return this.#bytes.toString('utf8', at, at + length - 1);
  }

  #advance(count: number): number {
    const at = this.offset - this.#start;
    this.offset += count;
    return at;
  }
}
