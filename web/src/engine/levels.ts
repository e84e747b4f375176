import type { Level } from './api';

/** Weakest first. */
export const LEVELS: readonly Level[] = [
  { id: 'novice', name: 'Novice', simulations: 4, temperature: 1.5 },
  { id: 'easy', name: 'Easy', simulations: 16, temperature: 1 },
  { id: 'medium', name: 'Medium', simulations: 64, temperature: 0.5 },
  { id: 'strong', name: 'Strong', simulations: 256, temperature: 0 },
  { id: 'master', name: 'Master', simulations: 1024, temperature: 0 },
];

/** A random game is far less accurate than a network, and far cheaper. */
export const PLAYOUTS_FACTOR = 16;
