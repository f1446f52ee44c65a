import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type as TypeBox } from 'typebox';
import { Type } from './type-builder.ts';

type Builder = typeof Type;

// Every function of the builder, with and without options.
const SCHEMAS: Record<keyof Builder, (type: Builder) => unknown[]> = {
  Array: (type) => [type.Array(type.String()), type.Array(type.Null(), { maxItems: 3 })],
  Boolean: (type) => [type.Boolean(), type.Boolean({ default: true })],
  Integer: (type) => [type.Integer(), type.Integer({ minimum: 0 })],
  Literal: (type) => [type.Literal('a'), type.Literal(1), type.Literal(true, { description: 'always' })],
  Null: (type) => [type.Null(), type.Null({ description: 'nothing' })],
  Number: (type) => [type.Number(), type.Number({ maximum: 1.5 })],
  Object: (type) => [
    type.Object({}),
    type.Object({ a: type.String(), b: type.Integer() }, { additionalProperties: false }),
    type.Object({ nested: type.Object({ a: type.Optional(type.String()) }) }),
  ],
  Optional: (type) => {
    const shared = type.String({ minLength: 1 });
    return [type.Object({ a: type.Optional(shared) }), type.Object({ a: type.Optional(shared), b: shared })];
  },
  Record: (type) => [
    type.Record(type.String(), type.Unknown()),
    type.Record(type.String(), type.Number(), { description: 'numbers' }),
  ],
  String: (type) => [type.String(), type.String({ pattern: '^a$', 'x-own': 1 })],
  Union: (type) => [type.Union([type.String(), type.Null()]), type.Union([type.Null()], { description: 'one of' })],
  Unknown: (type) => [type.Unknown(), type.Unknown({ examples: [1] })],
  Unsafe: (type) => [type.Unsafe({ type: 'string', enum: ['a'] })],
};

for (const [name, schemas] of Object.entries(SCHEMAS)) {
  test(`${name} makes the same JSON schema as TypeBox`, () => {
    assert.equal(JSON.stringify(schemas(Type)), JSON.stringify(schemas(TypeBox)));
  });
}

test('every function of the builder is compared with TypeBox', () => {
  assert.deepEqual(Object.keys(SCHEMAS), Object.keys(Type));
});
