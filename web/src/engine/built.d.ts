// What the build of web/wasm writes: a factory of the module.
declare module '*/tara_core.mjs' {
  export default function createModule(options: {
    readonly wasmBinary: ArrayBuffer | Uint8Array;
  }): Promise<unknown>;
}

// The address of a file for src/engine/packed.ts (packed_plugin.mjs).
declare module '*?packed' {
  const url: string;
  export default url;
}
