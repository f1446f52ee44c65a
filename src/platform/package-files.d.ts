// Files of packages that the service loads by themselves, because the whole package costs every process of the service
// memory and start time; the types of these packages describe the whole only. The lock file pins the versions.

declare module 'prom-client/lib/cluster.js' {
  export { AggregatorRegistry as default } from 'prom-client';
}

declare module 'prom-client/lib/counter.js' {
  export { Counter as default } from 'prom-client';
}

declare module 'prom-client/lib/gauge.js' {
  export { Gauge as default } from 'prom-client';
}

declare module 'prom-client/lib/histogram.js' {
  export { Histogram as default } from 'prom-client';
}

declare module 'prom-client/lib/registry.js' {
  export { Registry as default } from 'prom-client';
}

declare module 'prom-client/lib/metrics/*' {
  import type { Registry } from 'prom-client';

  const collect: (registry: Registry, config: { eventLoopMonitoringPrecision: number }) => void;
  export default collect;
}

declare module 'undici/lib/api/api-request.js' {
  import type { Dispatcher } from 'undici';

  const request: (this: Dispatcher, options: Dispatcher.RequestOptions) => Promise<Dispatcher.ResponseData>;
  export default request;
}

declare module 'undici/lib/core/errors.js' {
  export { errors as default } from 'undici';
}

declare module 'undici/lib/core/symbols.js' {
  const symbols: { kParser: symbol };
  export default symbols;
}

declare module 'undici/lib/dispatcher/agent.js' {
  export { Agent as default } from 'undici';
}

declare module 'undici/lib/dispatcher/client.js' {
  export { Client as default } from 'undici';
}
