import {
  add,
  addIntegers,
  asFloats,
  asIntegers,
  bitsOfBoth,
  type Code,
  divide,
  floats,
  get,
  integers,
  type Local,
  maximum,
  minimum,
  multiply,
  multiplyAdd,
  nearest,
  set,
  shiftLeft,
  shiftRight,
} from './wasm.ts';

/** Vectors that the functions below overwrite. */
export const LOGARITHM_VECTORS = 2;
export const SIGMOID_VECTORS = 3;

const MANTISSA_BITS = 23;
const EXPONENT_OF_ONE = 127;
/** The bits of the square root of a half. From this value to twice of it, log(x) is nearly a polynomial of x - 1. */
const ROOT_OF_HALF = 0x3f3504f3;
/** log(1 + x) = x - x²/2 + x³ * (…), the highest power first. Source: logf of the Cephes library */
const LOGARITHM = [
  7.0376836292e-2, -1.151461031e-1, 1.167699874e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
  2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
];
/** exp(x) = 1 + x + x² * (…). Source: expf of the Cephes library */
const EXPONENTIAL = [
  1.98756915e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1,
];
/** exp() of 89 is no float. */
const EXPONENT_MAX = 88;

/** Sets a vector to the natural logarithms of floats that are 1 or more. */
export function setLogarithm(result: Local, [rest, square]: number[], of: Code): Code {
  const fraction = addIntegers(bitsOfBoth(get(result), integers(2 ** MANTISSA_BITS - 1)), integers(ROOT_OF_HALF));
  const cubed = multiply(get(rest!), get(square!));
  return [
    ...set(result, addIntegers(of, integers(-ROOT_OF_HALF))),
    ...set(rest!, add(fraction, floats(-1))),
    ...set(result, multiply(asFloats(shiftRight(get(result), MANTISSA_BITS)), floats(Math.LN2))),
    ...set(square!, multiply(get(rest!), get(rest!))),
    ...set(result, multiplyAdd(get(square!), floats(-0.5), get(result))),
    ...set(result, multiplyAdd(cubed, polynomial(rest!, LOGARITHM), get(result))),
    ...set(result, add(get(result), get(rest!))),
  ];
}

/** Sets a vector to 1 / (1 + exp(-x)). */
export function setSigmoid(result: Local, [power, rest, square]: number[], of: Code): Code {
  const limited = minimum(maximum(multiply(of, floats(-1)), floats(-EXPONENT_MAX)), floats(EXPONENT_MAX));
  const twoToThePower = shiftLeft(addIntegers(asIntegers(get(power!)), integers(EXPONENT_OF_ONE)), MANTISSA_BITS);
  const sum = multiplyAdd(get(square!), polynomial(rest!, EXPONENTIAL), add(get(rest!), floats(1)));
  return [
    ...set(rest!, limited),
    ...set(power!, nearest(multiply(get(rest!), floats(Math.LOG2E)))),
    ...set(rest!, multiplyAdd(get(power!), floats(-Math.LN2), get(rest!))),
    ...set(square!, multiply(get(rest!), get(rest!))),
    ...set(result, multiplyAdd(sum, twoToThePower, floats(1))),
    ...set(result, divide(floats(1), get(result))),
  ];
}

function polynomial(of: Local, [highest, ...coefficients]: number[]): Code {
  return coefficients.reduce<Code>((sum, one) => multiplyAdd(sum, get(of), floats(one)), floats(highest!));
}
