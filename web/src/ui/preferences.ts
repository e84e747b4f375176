// What a visitor prefers, in the browser's local storage. A browser that
// refuses it only forgets.

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

// Whether the rule of each turn is shown.
export function guided(): boolean {
  return read('guide') !== 'off';
}

export function setGuided(on: boolean): void {
  write('guide', on ? 'on' : 'off');
}

// Gives the page a theme; 'auto' follows the system.
export function applyTheme(name: Theme): void {
  write('theme', name);
  if (name === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = name;
}

// Switches between light and dark.
export function turnTheme(): void {
  const shown = theme();
  const dark =
    shown === 'auto'
      ? matchMedia('(prefers-color-scheme: dark)').matches
      : shown === 'dark';
  applyTheme(dark ? 'light' : 'dark');
}
