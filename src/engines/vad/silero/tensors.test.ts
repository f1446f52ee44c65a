import assert from 'node:assert/strict';
import test from 'node:test';
import { modelFile } from '../../../../test/fixtures/audio/tone/model-file.ts';
import { tensor } from '../../../models/whisper/onnx-writer.ts';
import { openNetwork, WIDE } from './network.ts';
import { constantOf, readTensors } from './tensors.ts';

/** A field of a message. */
function field(number: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), content]);
}

test('constants are read, of any length', () => {
  const values = Float32Array.from({ length: 1000 }, (_, at) => at / 8);
  const constants = [tensor('long', [1000], values), tensor('short', [1], Float32Array.of(-2))];
  const tensors = readTensors(modelFile({ nodes: [], constants, inputs: [], outputs: [] }, { key: 'value' }));

  assert.deepEqual(constantOf(tensors, 'long'), values);
  assert.deepEqual([...constantOf(tensors, 'short')], [-2]);
});

test('constants of a branch are read', () => {
  const constant = field(5, field(8, Buffer.from('7')), field(9, Buffer.from(Float32Array.of(0.5).buffer)));
  const branch = field(5, field(6, constant));
  const model = field(7, field(1, branch));

  assert.deepEqual([...constantOf(readTensors(model), 7)], [0.5]);
});

test('a file of another model, or of none, is refused', () => {
  const other = modelFile({ nodes: [], constants: [], inputs: [], outputs: [] }, {});

  assert.throws(() => openNetwork(readTensors(other), WIDE), /not the voice detector/);
  assert.throws(() => readTensors(Buffer.from('no model')), /field|out of range/);
});
