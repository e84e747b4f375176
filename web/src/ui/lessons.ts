// The lessons: for each family of variants a minute of actions on a real board,
// from what decides the game to the action that wins it.

import type { Count } from './score';
import type { Family } from '../engine/api';

export interface LessonStep {
  readonly text: string; // what is explained
  // As text (docs/reference/rules.md section 12.2), without what follows from
  // the board; '' continues from the last step.
  readonly position: string;
  readonly shows?: Count; // of both sides, on the board
  readonly task?: string; // what to do; without one there is only to read
  // The actions that do it. Default: every legal one.
  readonly good?: readonly string[];
  readonly hint?: string; // about another action
  readonly after?: string; // what has come of it
}

const TWO_KINGDOMS: LessonStep = {
  text:
    'You play Red. Ringforts on neighbouring hills are linked, and linked ' +
    'ringforts form a kingdom. Here Red has four kingdoms and Blue has three. ' +
    'The side with the fewest kingdoms wins.',
  position: 'sacred_hill_l1 5/1r3b1/2r1bb1/2rr3/4r2/1b3r1/1bb2 0 battle',
  shows: 'kingdoms',
};

function lastTurn(variant: string): LessonStep {
  return {
    text:
      'The board is almost full and this is the last turn. Blue has one ' +
      'kingdom, Red has two. If both sides have the same number of kingdoms, ' +
      'the side with more ringforts wins.',
    position:
      `${variant} rrrbb/rrrrbbb/rrrbbbb/1bbbbbb/rrr1bbb/rrrrrbb/rrrrb 0 ` +
      'battle - 0,0 0 out:1',
    task: 'Win the game: join your two kingdoms.',
    good: ['A4'],
    hint: 'You would still have two kingdoms and lose. Try the other hill.',
    after:
      'You win. Each side has one kingdom, but you have more ringforts: 23 ' +
      'to 21.',
  };
}

export const LESSONS: Readonly<Record<Family, readonly LessonStep[]>> = {
  sacred_hill: [
    TWO_KINGDOMS,
    {
      text:
        'The game begins with Manoeuvres. You build a knight’s move away from ' +
        'one of your ringforts (as in chess), and never closer than that.',
      position: 'sacred_hill_l1 5/7/2r4/7/4b2/7/5 0 manoeuvres',
      task: 'Build on one of the red dots.',
      after: 'Your ringforts now claim two parts of the board.',
    },
    {
      text:
        'When a player has no such hill left, Battle begins. Now you build ' +
        'next to your ringforts, and your kingdoms grow together.',
      position: 'sacred_hill_l1 5/1r1r3/1r1rb2/2b2b1/5b1/7/5 0 battle',
      task: 'Join your two kingdoms with one ringfort.',
      good: ['C5', 'C6'],
      hint: 'That hill is next to one of your kingdoms only.',
      after: 'You have one kingdom now.',
    },
    {
      text:
        'A ringfort without a link is besieged when enemy ringforts stand on ' +
        'all hills next to it. It is marked with “!”. In Level 1 you must ' +
        'capture it before you build; in Level 2 you must act on the hill ' +
        'with the most of your ringforts around it.',
      position: 'sacred_hill_l1 5/3r3/2rbr2/3r3/4b2/4bb1/5 0 battle',
      task: 'Capture the besieged ringfort.',
      after: 'It is yours, and four kingdoms have become one.',
    },
    lastTurn('sacred_hill_l1'),
  ],
  four_treasures: [
    {
      text:
        'You play Red. A bridge joins neighbouring ringforts of one side. ' +
        'The side with the most bridges wins.',
      position: 'four_treasures 5/7/2rr3/2r1r2/2br3/3b3/5 0 battle',
      shows: 'bridges',
    },
    {
      text:
        'You may build on any vacant hill. A hill next to several of your ' +
        'ringforts gives several bridges at once. Take a hill next to several ' +
        'ringforts of Blue before Blue does.',
      position: 'four_treasures 5/7/2rr3/2r1r2/3r3/1b3b1/2bb1 0 battle',
      task: 'Lay four bridges with one ringfort.',
      good: ['D4'],
      hint: 'Another hill has your ringforts on all four sides.',
      after: 'Four bridges at once.',
    },
    {
      text:
        'A ringfort without a bridge is besieged when enemy ringforts stand on ' +
        'all hills next to it. It is marked with “!”, and you must capture it ' +
        'before you build.',
      position: 'four_treasures 5/7/2r4/1rbr3/2r4/4b2/5 0 battle',
      task: 'Capture the besieged ringfort.',
      after: 'It is yours, with a bridge to each side.',
    },
    {
      text:
        'The board is almost full and this is the last turn. Red has 27 ' +
        'bridges, Blue has 29.',
      position:
        'four_treasures rrbbb/rr1rbbb/rrrbbbb/rbbbbbb/rrrrbbb/rrrrrbb/rrrr1 0 ' +
        'battle - 0,0 0 out:1',
      task: 'Win the game: lay more bridges than Blue has.',
      good: ['C6'],
      hint: 'That gives one bridge, and you would lose by 28 to 29.',
      after: 'You win by 31 bridges to 29.',
    },
  ],
  high_kings: [
    {
      text:
        'You play Red. Each side has three kings. In Placement you put a king ' +
        'with a ringfort on a hill that is not next to your own ringforts.',
      position: 'high_kings_l1 5/1R5/7/4B2/7/7/5 0 placement',
      task: 'Place your second king.',
      after: 'Your king stands on a new ringfort.',
    },
    {
      text:
        'In Manoeuvres a king makes a knight’s move (as in chess) and builds a ' +
        'ringfort where it arrives.',
      position: 'high_kings_l1 2B2/R3R2/6B/3R3/7/7/1B3 0 manoeuvres',
      task: 'Choose a king, then a red dot.',
      after: 'The king has built a ringfort and stands on it.',
    },
    {
      text:
        'In Battle you besiege enemy kings. The ringfort on B1 is besieged ' +
        'when Red stands on all hills next to it. A king that arrives there ' +
        'captures the enemy king.',
      position: 'high_kings_l1 3B1/R4B1/7/7/3R3/7/Br2R 0 battle',
      task: 'Capture the king on B1: close the ring with a king.',
      good: ['D3-B2'],
      hint: 'B2 is the hill next to B1 that is still open. One king reaches it.',
      after: 'One king is captured. Its ringfort stays on the board.',
    },
    {
      text:
        'The side that captures two kings wins at once. Otherwise the side ' +
        'with the fewest linked groups of ringforts (kingdoms) wins at the ' +
        'end. You have captured one king.',
      position: 'high_kings_l1 Br3/7/3R3/7/R6/5R1/3B1 0 battle - 1,0',
      task: 'Win the game: capture a second king.',
      good: ['D5-B6'],
      hint: 'Look at the king on B7: which hill next to it is open?',
      after: 'You win: two kings are captured.',
    },
  ],
  poisoned_chalice: [
    TWO_KINGDOMS,
    {
      text:
        'In Manoeuvres each side builds one ringfort on each of the four edges ' +
        'of the board, and never opposite another ringfort.',
      position: 'poisoned_chalice 1r3/7/b6/7/6r/7/2b2 0 manoeuvres',
      task: 'Build on one of the red dots.',
      after: 'One more edge is done.',
    },
    {
      text:
        'In Battle Red builds in files (columns), Blue in ranks (rows). You ' +
        'may build in a file that has an empty hill, at least one ringfort of ' +
        'Blue, and not more ringforts of yours than of Blue’s.',
      position: 'poisoned_chalice b1r2/6b/r6/7/6r/b6/1r1b1 0 battle',
      task: 'Build on one of the red dots.',
      after:
        'If there is no such file, you capture a besieged ringfort (marked ' +
        'with “!”). If there is none, you build anywhere.',
    },
    lastTurn('poisoned_chalice'),
  ],
  stone_of_destiny: [
    {
      text:
        'You play Red. Each side has one king. In Manoeuvres you build one or ' +
        'two steps away from the enemy king, straight or diagonally, and ' +
        'your king moves there. In this way both sides fill the board.',
      position: 'stone_of_destiny 5/7/7/3B3/7/7/5 0 manoeuvres',
      task: 'Build on one of the red dots.',
      after: 'Your king stands there, and Blue must stay near it.',
    },
    {
      text:
        'On the full board Battle begins. A turn has two parts. First you swap ' +
        'an enemy ringfort that has no link and no king: it becomes yours.',
      position:
        'stone_of_destiny ' +
        'rbbrb/rrbrbbr/rbrbrrb/bbBbrbr/brrbbrb/rbrrbrb/brRbr 0 battle',
      task: 'Swap one of the ringforts in a dashed ring.',
      after: 'The ringfort is yours.',
    },
    {
      text:
        'Then you link two neighbouring ringforts of yours. Linked ringforts ' +
        'are safe: nobody can swap them.',
      position: '',
      task: 'Choose a link: a small square between two ringforts.',
      after: 'These two are permanently safe. Now Blue swaps and links.',
    },
    {
      text:
        'When a player has no ringfort to swap, the game ends and all ' +
        'neighbours of one side are linked. Linked ringforts form a kingdom, ' +
        'and the side with the fewest kingdoms wins. Here Red has one and Blue ' +
        'has two: Red wins.',
      position:
        'sacred_hill_l1 rrrbb/rrrrbbb/rrrrrrr/rbbbbbb/rrrrbbb/rrrrrbb/rrrrb - ' +
        'finished - 0,0 0 out:0',
      shows: 'kingdoms',
    },
  ],
};
