// Texts for people about the families of variants: a line for choosing, and the
// rules in short, with drawings. docs/reference/rules.md has them in full.

import type { Drawing } from './board/drawing';
import type { Family, Phase, Position, VariantInfo } from '../engine/api';

export interface Rule {
  readonly text: string;
  readonly drawings?: readonly Drawing[];
  // When the rule governs a turn, for beginners: a phase, and in it the
  // positions where a hill can be built on (true) or not (false).
  readonly phase?: Phase;
  readonly builds?: boolean;
}

export interface FamilyText {
  readonly title: string;
  readonly line: string;
  readonly goal: string; // the aim in a line, always in sight
  readonly aim: Rule;
  readonly turns: readonly Rule[];
}

function rule(
  text: string,
  ...more: readonly (Pick<Rule, 'phase' | 'builds'> | Drawing)[]
): Rule {
  const drawings = more.filter((each) => 'board' in each);
  return { text, drawings, ...more.find((each) => !('board' in each)) };
}

function drawing(
  board: string,
  caption: string,
  more: Omit<Drawing, 'board' | 'caption'> = {},
): Drawing {
  return { board, caption, ...more };
}

const FEWEST = 'Fewest kingdoms wins; if equal, most ringforts.';
const OUT = rule(
  'The game ends when a player cannot move; everyone else gets one last turn.',
);
const KINGDOMS = rule(
  'Linked ringforts form a kingdom. Fewer kingdoms wins: 2 points plus the ' +
    'difference. If equal, more ringforts wins, scored the same way.',
  drawing(
    '1b3/1bb2r1/2b1rrr/1r5/1rr1b2/1r2bb1/5',
    'Two kingdoms of Red, two of Blue; Red has more ringforts.',
  ),
);
const CAPTURE = rule(
  'A single ringfort, one without a link, is besieged when every hill next ' +
    'to it holds an enemy ringfort.',
  drawing(
    '5/7/r3r2/br1rbr1/r3r2/1r5/br3',
    'Red besieges B1, A4 and E4, with two, three and four ringforts.',
  ),
);

export const FAMILIES: Readonly<Record<Family, FamilyText>> = {
  sacred_hill: {
    title: 'Sacred Hill',
    line: 'Spread by knight’s moves, then grow together.',
    goal: FEWEST,
    aim: KINGDOMS,
    turns: [
      rule(
        'Manoeuvres: after your first ringfort, build a knight’s move away ' +
          'from one of your ringforts; no ringfort of yours may be closer ' +
          'than that.',
        { phase: 'manoeuvres' },
        drawing(
          '1+3/2x1r2/1+x2x+/3r1x1/1+3+1/2+1+2/5',
          'Red may build on the dots. The crosses are a knight’s move from ' +
            'one ringfort, but too near to the other.',
        ),
      ),
      rule('When a player can no longer do so, Battle begins for all.'),
    ],
  },
  four_treasures: {
    title: 'Four Treasures',
    line: 'Lay the most bridges.',
    goal: 'Most bridges wins; if equal, most ringforts.',
    aim: rule(
      'More bridges wins: 2 points plus the difference. If equal, more ' +
        'ringforts wins, scored the same way.',
      drawing(
        '5/7/2r4/2r+r2/2rrr2/7/5',
        'Red has laid five bridges; on the dot it lays three more.',
      ),
    ),
    turns: [
      rule(
        'Capture a besieged single ringfort of the enemy if there is one.',
        { phase: 'battle' },
      ),
      rule(
        'Otherwise build on any vacant hill. Neighbouring ringforts of one ' +
          'side are linked by a bridge.',
        { phase: 'battle' },
      ),
      CAPTURE,
      OUT,
    ],
  },
  high_kings: {
    title: 'High Kings of Tara',
    line: 'Three kings a side, who ride and besiege.',
    goal: 'Capture two kings, or end with the fewest kingdoms.',
    aim: rule(
      'Capture two kings and you win at once. Otherwise: fewer kingdoms, ' +
        'then more ringforts, and a point for a captured king.',
    ),
    turns: [
      rule(
        'Placement: each side places three kings with a ringfort, none next ' +
          'to a ringfort of its own.',
        { phase: 'placement' },
      ),
      rule(
        'Manoeuvres: a king makes a knight’s move to a vacant hill that is ' +
          'not next to a ringfort of its side, and builds there.',
        { phase: 'manoeuvres' },
        drawing(
          '2B2/R1+1xR1/1+3x1/3R3/1+3+B/2+1+2/1B3',
          'The king on D4 may go to the dots. The crosses are next to the ' +
            'ringfort on F6.',
        ),
      ),
      rule(
        'Battle: while one of your kings can reach a vacant hill that is not ' +
          'next to another of your kings, you must make such a move.',
        { phase: 'battle', builds: true },
      ),
      rule(
        'Else a king returns to a ringfort of yours or captures a besieged ' +
          'single ringfort. You pass if no king on the board can move.',
        { phase: 'battle', builds: false },
      ),
      rule(
        'A king that arrives captures enemy kings next to it that stand on a ' +
          'besieged single ringfort.',
        drawing(
          '3B1/R4B1/7/7/3R3/7/Br2R',
          'Before: the king on B1 is besieged except on B2.',
          { arrow: ['D3', 'B2'] },
        ),
        drawing(
          '3B1/R4B1/7/7/3r3/1R5/br2R',
          'After: the king is captured; its ringfort stays.',
        ),
      ),
    ],
  },
  poisoned_chalice: {
    title: 'Poisoned Chalice',
    line: 'Red holds the files, Blue the ranks.',
    goal: FEWEST,
    aim: KINGDOMS,
    turns: [
      rule(
        'Manoeuvres: each side builds one ringfort on each of the four ' +
          'edges, never opposite another.',
        { phase: 'manoeuvres' },
        drawing(
          '+++r+/+5+/+5+/+5+/+5+/+5+/+++x+',
          'Blue may build on the dots; E1 is opposite E7.',
          { side: 1 },
        ),
      ),
      rule(
        'Battle: build in one of your rows that qualifies: it has an empty ' +
          'hill, at least one enemy ringfort, and not more ringforts of ' +
          'yours than of theirs.',
        { phase: 'battle' },
        drawing(
          'b1r+1/++2+1b/r+2+1+/++2+1+/++2+1r/b+2+1+/+r1b1',
          'Red’s rows are the files. A, B, E and G qualify: Red builds on a ' +
            'dot.',
        ),
      ),
      rule(
        'If no row qualifies, capture a besieged single ringfort; if there ' +
          'is none, build anywhere.',
        { phase: 'battle' },
      ),
      CAPTURE,
      OUT,
    ],
  },
  stone_of_destiny: {
    title: 'Stone of Destiny',
    line: 'Fill the hill, then swap and link.',
    goal: FEWEST,
    aim: KINGDOMS,
    turns: [
      rule(
        'Manoeuvres: build exactly one or two steps, along a file, a rank or ' +
          'a diagonal, from the enemy king (anywhere if all are taken); your ' +
          'king moves there.',
        { phase: 'manoeuvres' },
        drawing(
          '5/1+1+1+1/2+++2/1++R++1/2+++2/1+1+1+1/5',
          'Blue may build on the dots.',
          { side: 1 },
        ),
      ),
      rule(
        'When the board is full, Battle begins with Blue. A turn is a swap ' +
          'and a link.',
      ),
      rule(
        'Swap: an enemy ringfort without a link and without the king becomes ' +
          'yours, and your king moves there.',
        { phase: 'battle' },
      ),
      rule(
        'Link: join two neighbouring ringforts of yours. Linked ringforts ' +
          'are permanently safe.',
        { phase: 'link' },
        drawing(
          'rbbrb/rrbrbbr/rbrbrrb/bbBbrbr/brrbbrb/rbrrbrb/brRbr',
          'Blue has swapped C4 and linked E1 with E2.',
          { links: [['E1', 'E2']] },
        ),
      ),
      rule(
        'If there is no ringfort to swap, the game ends and all neighbours ' +
          'are linked.',
      ),
    ],
  },
};

const BATTLE_BY_LEVEL: Readonly<Record<number, Rule>> = {
  1: rule(
    'Battle: capture a besieged single ringfort of the enemy if there is ' +
      'one; else build next to a ringfort of yours; else anywhere.',
    { phase: 'battle' },
    drawing(
      '5/2++3/1+rr+2/2+r+2/3+3/5b1/5',
      'There is nothing to capture, so Red builds on a dot.',
    ),
  ),
  2: rule(
    'Battle: the value of a vacant hill is the number of your ringforts ' +
      'next to it; that of a besieged single ringfort is the number of ' +
      'ringforts that besiege it. Act on a hill of the highest value.',
    { phase: 'battle' },
    drawing(
      '5/7/7/7/7/1r+r3/br3',
      'C2 has the highest value for Red; the capture of B1 must wait.',
      { numbers: { A2: 1, B3: 1, D3: 1, E2: 1, D1: 2, B1: 2, C2: 3 } },
    ),
  ),
};

const DOUBLES = rule(
  'Doubles: partners sit opposite each other. Each player acts only on the ' +
    'four nearest rows (the others are shaded); all else counts for the side ' +
    'as a whole.',
  drawing('5/7/7/7/7/7/5', 'The rows of Red South.', { seat: 0 }),
  drawing('5/7/7/7/7/7/5', 'The rows of Blue West.', { seat: 1 }),
);

const SHARED_ROWS = rule(
  'Red’s first ringfort must be on rank 4, Blue’s on file D: the rows that ' +
    'the partners share.',
);

const SACRIFICE = rule(
  'Sacrifice: a side that has lost one king may give up the besieged ' +
    'ringfort that a king returns to. It becomes the enemy’s. The king on it ' +
    'is safe for one turn, but is lost unless it then moves away.',
  drawing(
    'rrr1r/rrrrrrr/Rrrrrrr/rrrrrrR/rrbrrrr/rrrRrrB/Brrrr',
    'Before: Blue’s king on B1 returns to C3 and gives it up.',
    { arrow: ['B1', 'C3'] },
  ),
  drawing(
    'rrr1r/rrrrrrr/Rrrrrrr/rrrrrrR/rrTrrrr/rrrRrrB/brrrr',
    'After: C3 is Red’s, and the king is stranded on it.',
  ),
);

// Returns the rules of a variant in short.
export function rulesInShort(variant: VariantInfo): Rule[] {
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

// Returns the rules that govern the turn, for beginners; none when the game is
// over.
export function rulesOfTurn(variant: VariantInfo, position: Position): Rule[] {
  const builds = position.legal.some(
    ({ to }) => to !== null && position.hills[to]!.owner === null,
  );
  return rulesInShort(variant)
    .filter((rule) => rule.phase === position.phase)
    .filter((rule) => rule.builds === undefined || rule.builds === builds);
}

// Returns the name of a variant within its family: "Level 1".
export function variantLabel(variant: VariantInfo): string {
  const rest = variant.name.replace(FAMILIES[variant.family].title, '');
  return rest.replace(/^[ ,]+/, '') || 'Singles';
}
