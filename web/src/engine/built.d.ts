// What the build of web/wasm writes: a factory of the module.
declare module '*/tara_core.mjs' {
  export default function createModule(options: {
    readonly wasmBinary: ArrayBuffer | Uint8Array;
  }): Promise<unknown>;
}
