import assert from 'node:assert/strict';
import test from 'node:test';
import { Type as TypeBox } from 'typebox';
import { Type } from './schema-builders.ts';

type Builders = typeof Type;

const options = { description: 'd' };

/** One schema or more of each builder. */
const SAMPLES: Record<keyof Builders, (builders: Builders) => unknown[]> = {
  String: (builders) => [builders.String(), builders.String({ minLength: 1, ...options })],
  Integer: ({ Integer }) => [Integer(), Integer({ minimum: 1 })],
  Number: (builders) => [builders.Number(options)],
  Boolean: (builders) => [builders.Boolean(options)],
  Null: ({ Null }) => [Null(options)],
  Unknown: ({ Unknown }) => [Unknown(), Unknown(options)],
  Unsafe: ({ Unsafe }) => [Unsafe<string>({ type: 'string', enum: ['a'] })],
  Literal: ({ Literal }) => [Literal('a', options), Literal(3), Literal(true)],
  Union: (builders) => [builders.Union([builders.String(), builders.Null()], options)],
  Array: (builders) => [builders.Array(builders.String(), { maxItems: 2 })],
  Optional: ({ Optional, Literal }) => [Optional(Literal('a', options))],
  Object: (builders) => {
    const some = builders.Object({ a: builders.String(), b: builders.Optional(builders.Null()) }, options);
    const nested = builders.Object({ ...some.properties, c: builders.Optional(some), d: some });
    return [some, nested, builders.Object({}), builders.Object({ b: builders.Optional(builders.Null()) })];
  },
  Record: (builders) => [builders.Record(builders.String(), builders.Unknown(), options)],
};

for (const [name, samples] of Object.entries(SAMPLES)) {
  test(`${name} makes the schema that the library makes`, () => {
    const own = samples(Type).map((schema) => JSON.stringify(schema));

    assert.deepEqual(
      own,
      samples(TypeBox).map((schema) => JSON.stringify(schema)),
    );
    assert.deepEqual(Object.keys(Type), Object.keys(SAMPLES));
  });
}
