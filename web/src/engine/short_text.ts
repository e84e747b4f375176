// Rule options and games as the shortest texts (docs/reference/rules.md section
// 12.2).

import type { Game, RuleOptions, VariantInfo } from './api';

/** "name=value,name=value" as the core reads them; "-" for none. */
export function optionsToText(
    variant: VariantInfo, options: RuleOptions): string {
  const names = Object.keys(options);
  if (names.length === 0) return '-';
  return names.map((name) => {
    const info = variant.options.find((option) => option.name === name);
    const value = options[name];
    const isSwitch = info?.isSwitch && (value === 0 || value === 1);
    return `${name}=${isSwitch ? value === 1 : value}`;
  }).join(',');
}

/** The inverse, of texts that the core wrote. */
export function optionsFromText(text: string): RuleOptions {
  const options: Record<string, number> = {};
  if (text === '-') return options;
  for (const part of text.split(',')) {
    const [name = '', value = ''] = part.split('=');
    options[name] = value === 'true' ? 1 : value === 'false' ? 0 : Number(value);
  }
  return options;
}

/** The game as a variant and its options, or the position that was set up, and
 * its actions. */
export function shortText(
    game: Pick<Game, 'variant' | 'options' | 'start' | 'actions'>): string {
  const { variant, options, start } = game;
  const actions = game.actions.map(({ action }) => action.notation);
  if (start !== null) return [start, ...actions].join(' ');
  const changed = optionsToText(variant, options);
  return [variant.id, ...(changed === '-' ? [] : [changed]), ...actions]
      .join(' ');
}
