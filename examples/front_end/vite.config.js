// The package finds its .wasm next to it only if it is not bundled again.
export default {
  optimizeDeps: {exclude: ['tara-core']},
  build: {target: 'es2022'},
};
