/** What Node has and its types lack: only pages have them in TypeScript's libraries. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, Memory>>);
    readonly exports: Record<string, (...values: number[]) => void>;
  }
  class Memory {
    /** @param limits  in pages of 64 KiB */
    constructor(limits: { initial: number });
    readonly buffer: ArrayBuffer;
  }
}
