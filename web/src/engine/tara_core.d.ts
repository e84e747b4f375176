// What the build of web/wasm writes: a factory of the module.
declare module '*/tara_core.mjs' {
  export default function createModule(options: {
    readonly locateFile: (name: string) => string;
  }): Promise<unknown>;
}
