// Which rules a network has learned.

import type { LearnedVariant, RuleOptions, VariantInfo } from './api';

/** What of a game's rules the network has not learned: the name of the variant,
 * or options such as "no_progress_limit=20"; empty: it has learned all. */
export function notLearned(
    learned: readonly LearnedVariant[], variant: VariantInfo,
    options: RuleOptions): string {
  const known = learned.filter(({ id }) => id === variant.id);
  if (known.length === 0) return variant.name;
  const unknown = variant.options.filter(({ name, defaultValue }) => {
    const value = options[name] ?? defaultValue;
    // An option that did not exist when it learned had its default.
    return !known.some(
        ({ options: fixed, drawn }) =>
          [fixed?.[name] ?? defaultValue, ...(drawn?.[name] ?? [])].some(
              (each) => Number(each) === value));
  });
  return unknown
      .map(({ name, isSwitch, defaultValue }) => {
        const value = options[name] ?? defaultValue;
        return `${name}=${isSwitch ? value === 1 : value}`;
      })
      .join(', ');
}
