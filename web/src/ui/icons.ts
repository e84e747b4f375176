// Icons of the buttons: strokes on a field of 24 units.

import { s } from './dom';

const PATHS = {
  undo: 'M9 14L4 9L9 4M4 9H14A6 6 0 0 1 14 21H11',
  redo: 'M15 14L20 9L15 4M20 9H10A6 6 0 0 0 10 21H13',
  hint: 'M9 18H15M10 21H14M12 3A6.5 6.5 0 0 0 8.5 15C9 15.4 9 16 9 16H15C15 16 15 15.4 15.5 15A6.5 6.5 0 0 0 12 3Z',
  heat: 'M12 3C13 7 17 9 17 14A5 5 0 0 1 7 14C7 12 8 11 9 10C9 12 10 13 11 13C12 10 10 7 12 3Z',
  owners: 'M5 21V4M5 5H18L15 9L18 13H5',
  pass: 'M5 5L13 12L5 19ZM18 5V19',
  pause: 'M8 5V19M16 5V19',
  resume: 'M7 4L20 12L7 20Z',
  file: 'M12 3V15M7 10L12 15L17 10M4 20H20',
  first: 'M18 5L9 12L18 19M6 5V19',
  last: 'M6 5L15 12L6 19M18 5V19',
  close: 'M6 6L18 18M18 6L6 18',
} as const;

export type IconName = keyof typeof PATHS;

export function icon(name: IconName): SVGSVGElement {
  return s(
    'svg',
    { class: 'icon', viewBox: '0 0 24 24', 'aria-hidden': 'true' },
    s('path', { d: PATHS[name] }),
  );
}
