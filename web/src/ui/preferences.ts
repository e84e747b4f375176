// What a visitor prefers, in the browser's local storage.

import { readText, write } from './storage';

const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export function theme(): Theme {
  const stored = readText('tara.theme');
  return THEMES.find((name) => name === stored) ?? 'auto';
}

// Whether the rule of each turn is shown.
export function guided(): boolean {
  return readText('tara.guide') !== 'off';
}

export function setGuided(on: boolean): void {
  write('tara.guide', on ? 'on' : 'off');
}

// Gives the page a theme; 'auto' follows the system.
export function applyTheme(name: Theme): void {
  write('tara.theme', name);
  if (name === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = name;
}

// Whether the page is dark now.
export function isDark(): boolean {
  const shown = theme();
  return shown === 'auto'
    ? matchMedia('(prefers-color-scheme: dark)').matches
    : shown === 'dark';
}

// Switches between light and dark.
export function turnTheme(): void {
  applyTheme(isDark() ? 'light' : 'dark');
}
