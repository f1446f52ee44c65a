/** A bug that is added to the code when it is loaded. The simulator must find it, or the tests of one file. */
export type PlantedBug = {
  name: string;
  changes: Change[];
  /** The file whose tests find it. */
  test?: string;
  /** Whether only seeds with live sessions can find it. */
  isLive?: boolean;
};

/** Other exports of a module, made from its own. */
export type Change = {
  file: string;
  exports: Record<string, (original: never, module: never) => unknown>;
};

type Exports<Module> = { [Name in keyof Module]?: (original: Module[Name], module: Module) => Module[Name] };

/**
 * Makes changes of a module: what other modules import from it is replaced, and inside of it nothing changes. A renamed
 * export, or one that takes other parameters, is an error of types.
 * @param file  path of `Module` from the project's root
 */
export function changesOf<Module>(file: `src/${string}.ts`): (exports: Exports<Module>) => Change {
  return (exports) => ({ file, exports: exports as Change['exports'] });
}

// biome-ignore lint/suspicious/noExplicitAny: any class
type Class = abstract new (...given: any[]) => any;
type Method<C extends Class, Name extends keyof InstanceType<C>> = (
  this: InstanceType<C>,
  ...given: Parameters<InstanceType<C>[Name]>
) => ReturnType<InstanceType<C>[Name]>;

/** Replaces a method of a class. @param replace  makes the method from the original one */
export function changeMethod<C extends Class, Name extends keyof InstanceType<C>>(
  original: C,
  name: Name,
  replace: (method: Method<C, Name>) => Method<C, Name>,
): C {
  original.prototype[name] = replace(original.prototype[name]);
  return original;
}
