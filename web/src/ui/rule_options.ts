// The fields of a form for a variant's rule options.

import { h, replaceChildren } from './dom';
import { labelled } from './parts';
import { capital, optionName } from './words';
import type { RuleOptions, VariantInfo } from '../engine/api';

export class RuleOptionFields {
  private readonly fields = h('div.options');
  readonly element = h('details', h('summary', 'Rule options'), this.fields);
  private variant: VariantInfo | null = null;

  constructor() {
    // The browser shows what is wrong with a field only where it is in sight.
    const open = () => (this.element.open = true);
    this.fields.addEventListener('invalid', open, true);
  }

  // Opens the fields, and scrolls to them.
  unfold(): void {
    this.element.open = true;
    this.element.scrollIntoView();
    this.fields.querySelector('input')?.focus({ preventScroll: true });
  }

  // Shows the options of a variant with these values, or else their defaults.
  show(variant: VariantInfo, values: RuleOptions = {}): void {
    this.variant = variant;
    this.element.hidden = variant.options.length === 0;
    replaceChildren(
      this.fields,
      variant.options.map((option) => {
        const { name, isSwitch, defaultValue, help, ...range } = option;
        const value = values[name] ?? defaultValue;
        const field = isSwitch
          ? { type: 'checkbox', checked: value === 1 }
          : { type: 'number', ...range, required: true, value };
        return labelled(
          h('input', { name: `option:${name}`, ...field }),
          h('span', h('strong', capital(optionName(name))), h('small', help)),
        );
      }),
    );
  }

  // Returns the options that differ from their defaults.
  values(): RuleOptions {
    const options: Record<string, number> = {};
    for (const { name, isSwitch, defaultValue } of this.variant?.options ?? []) {
      const input = this.fields.querySelector<HTMLInputElement>(
        `input[name="option:${name}"]`,
      )!;
      const value = isSwitch ? Number(input.checked) : Number(input.value);
      if (value !== defaultValue) options[name] = value;
    }
    return options;
  }
}
