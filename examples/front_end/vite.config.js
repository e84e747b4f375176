// The package finds its .wasm beside it only where it is not bundled anew.
export default {
  optimizeDeps: {exclude: ['tara-core']},
  build: {target: 'es2022'},
};
