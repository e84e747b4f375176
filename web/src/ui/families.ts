// What people are told of the families of variants: a line for choosing, and
// the rules in short. docs/reference/rules.md has them in full.

import type { Family, VariantInfo } from '../engine/api';

export interface FamilyText {
  readonly title: string;
  readonly line: string;
  readonly aim: string;
  readonly turns: readonly string[];
}

const OUT =
  'Whoever has no turn left is out; every other seat has one more turn, and ' +
  'the game ends.';
const KINGDOMS =
  'Ringforts that are linked form a kingdom. Fewer kingdoms than the other ' +
  'side: 2 points and the difference. As many: the same with the number of ' +
  'ringforts.';
const CAPTURE =
  'A single ringfort, one without a link, is besieged when every hill next ' +
  'to it holds an enemy ringfort.';

export const FAMILIES: Readonly<Record<Family, FamilyText>> = {
  sacred_hill: {
    title: 'Sacred Hill',
    line: 'Spread by knight’s moves, then grow together.',
    aim: KINGDOMS,
    turns: [
      'Manoeuvres: after your first ringfort, build a knight’s move from one ' +
        'of yours and not nearer to any.',
      'When a seat can no longer do so, Battle begins for all.',
    ],
  },
  four_treasures: {
    title: 'Four Treasures',
    line: 'Lay the most bridges.',
    aim:
      'The side with more bridges scores 2 points and the difference. As ' +
      'many: the same with the number of ringforts.',
    turns: [
      'Capture a besieged single ringfort of the enemy if there is one.',
      'Otherwise build on any vacant hill. Neighbouring ringforts of one side ' +
        'are linked by a bridge.',
      CAPTURE,
      OUT,
    ],
  },
  high_kings: {
    title: 'High Kings of Tara',
    line: 'Three kings a side, who ride and besiege.',
    aim:
      'Capture two kings and you win at once. Otherwise: fewer kingdoms, ' +
      'then more ringforts, and a point for a captured king.',
    turns: [
      'Placement: each side places three kings with a ringfort, none next to ' +
        'a ringfort of its own.',
      'Manoeuvres: a king goes by a knight’s move to a vacant hill that is ' +
        'not next to a ringfort of its side, and builds there.',
      'Battle: while one of your kings can reach a vacant hill that is not ' +
        'next to another of your kings, you must move so.',
      'Else a king goes back to a ringfort of yours, or captures a besieged ' +
        'single ringfort; or you pass when no king on the board can move on.',
      'A king that arrives captures enemy kings next to it that stand on a ' +
        'besieged single ringfort.',
    ],
  },
  poisoned_chalice: {
    title: 'Poisoned Chalice',
    line: 'Red holds the files, Blue the ranks.',
    aim: KINGDOMS,
    turns: [
      'Manoeuvres: each side builds one ringfort on each of the four edges, ' +
        'never opposite another.',
      'Battle: a row of yours qualifies when it has a vacant hill and an ' +
        'enemy ringfort, and no more of yours than of the enemy’s. Build ' +
        'in such a row.',
      'Without one, capture a besieged single ringfort; without that, build ' +
        'anywhere.',
      CAPTURE,
      OUT,
    ],
  },
  stone_of_destiny: {
    title: 'Stone of Destiny',
    line: 'Fill the hill, then swap and link.',
    aim: KINGDOMS,
    turns: [
      'Manoeuvres: build exactly one or two steps, along a file, a rank or a ' +
        'diagonal, from the enemy king (anywhere if all are taken); your ' +
        'king goes there.',
      'When the board is full, Battle begins with Blue. A turn is a swap and ' +
        'a link.',
      'Swap: an enemy ringfort without a link and without the king becomes ' +
        'yours, and your king goes there.',
      'Link: join two neighbouring ringforts of yours. Linked ringforts are ' +
        'safe for good.',
      'Without a ringfort to swap the game ends, and all neighbours are linked.',
    ],
  },
};

const BATTLE_BY_LEVEL: Readonly<Record<number, string>> = {
  1:
    'Battle: capture a besieged single ringfort of the enemy if there is ' +
    'one; else build next to a ringfort of yours; else anywhere.',
  2:
    'Battle: a vacant hill counts for as many of your ringforts as are next ' +
    'to it, a besieged single ringfort of the enemy for as many as besiege ' +
    'it. Act on one that counts most.',
};

const DOUBLES =
  'Doubles: partners sit opposite each other. Each seat acts on the four ' +
  'rows nearest to it alone (the others are shaded); all else counts for ' +
  'the side as a whole.';

const SHARED_ROWS =
  'The first ringfort of Red goes on rank 4, that of Blue on file D: the ' +
  'rows that partners share.';

const SACRIFICE =
  'Sacrifice: a side that has lost one king may give up the besieged ' +
  'ringfort that a king goes back to. It becomes the enemy’s, and the king ' +
  'on it is safe for one turn, but must then move on or is lost.';

// Returns the rules of a variant in short, a paragraph each.
export function rulesInShort(variant: VariantInfo): string[] {
  const { family, level, seats } = variant;
  const turns = [...FAMILIES[family].turns];
  if (family === 'sacred_hill') {
    turns.push(BATTLE_BY_LEVEL[level] ?? BATTLE_BY_LEVEL[1]!, CAPTURE, OUT);
  }
  if (family === 'high_kings' && level === 2) turns.push(SACRIFICE);
  if (seats.length > 2) turns.push(DOUBLES);
  if (seats.length > 2 && family === 'sacred_hill') turns.push(SHARED_ROWS);
  return turns;
}

// Returns the name of a variant within its family: "Level 1".
export function variantLabel(variant: VariantInfo): string {
  const rest = variant.name.replace(FAMILIES[variant.family].title, '');
  return rest.replace(/^[ ,]+/, '') || 'Singles';
}
