import { type ComponentType, use } from 'react';

// Like React's `lazy`; but a component whose module was loaded before renders at once. With `lazy` its first rendering
// shows the fallback, which React then keeps for 300 ms.
//
//   const loadChart = loadOnce(() => import('./chart.tsx'));
//   const Chart = lazyFrom(loadChart, (module) => module.default);

/** A function that loads a module at its first call. */
export function loadOnce<Module>(load: () => Promise<Module>): () => Promise<Module> {
  let loading: Promise<Module> | undefined;
  return () => {
    loading ??= readable(load());
    return loading;
  };
}

/** A component of a module. @param load  made by `loadOnce` */
export function lazyFrom<Module, Props extends object>(
  load: () => Promise<Module>,
  choose: (module: Module) => ComponentType<Props>,
): ComponentType<Props> {
  // biome-ignore lint/correctness/noComponentHookFactories: called once for each component, as `lazy`
  return function Lazy(props: Props) {
    const Chosen = choose(use(load()));
    return <Chosen {...props} />;
  };
}

/** Gives the promise the fields by which React reads a result without waiting. */
function readable<Value>(promise: Promise<Value>): Promise<Value> {
  promise.then(
    (value) => Object.assign(promise, { status: 'fulfilled', value }),
    (reason: unknown) => Object.assign(promise, { status: 'rejected', reason }),
  );
  return promise;
}
