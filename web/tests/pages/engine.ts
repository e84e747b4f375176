// Hands the engine to the tests, which run in Node.js and drive this page.

import type { Engine } from '../../src/engine/api';
import { createEngine } from '../../src/engine/engine';

declare global {
  interface Window {
    engine: Promise<Engine>;
  }
}

window.engine = createEngine();
