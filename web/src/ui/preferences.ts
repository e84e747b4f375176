// What the page remembers of a visitor, in the browser's local storage. A
// browser that refuses it only forgets.

const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

function read(key: string): string | null {
  try {
    return localStorage.getItem(`tara.${key}`);
  } catch {
    return null;
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(`tara.${key}`, value);
  } catch {
    // Nothing is remembered.
  }
}

export function theme(): Theme {
  const stored = read('theme');
  return THEMES.find((name) => name === stored) ?? 'auto';
}

// Gives the page a theme; 'auto' follows the system.
export function applyTheme(name: Theme): void {
  write('theme', name);
  if (name === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = name;
}

// Turns from light to dark or back, whichever is shown now.
export function turnTheme(): void {
  const shown = theme();
  const dark =
    shown === 'auto'
      ? matchMedia('(prefers-color-scheme: dark)').matches
      : shown === 'dark';
  applyTheme(dark ? 'light' : 'dark');
}

// The game on the board, so that reloading the page does not lose it.
export function storedGame(): { text: string; players: string[] } | null {
  const text = read('game');
  const players = read('players');
  return text === null ? null : { text, players: (players ?? '').split(',') };
}

export function storeGame(text: string, players: readonly string[]): void {
  write('game', text);
  write('players', players.join(','));
}
