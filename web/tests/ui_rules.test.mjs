// What the page says of the rules: why a hill is refused, which agrees with the
// rules of the compiled core in games of all variants, and drawings.

import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import {after, before, describe, test} from 'node:test';

import {root} from '../../tests/js/tara.mjs';
import {loadCore} from './harness.mjs';
import {loadModules, randomNumbers} from './ui_page.mjs';

// Rule options that change what is legal where, by variant; each is played
// with them one by one.
const SPREADING =
    ['proximity_bound=3', 'build_apart=true', 'opening_distance=2'];
const OPTIONS = {
  sacred_hill_l1: [...SPREADING, 'free_capture=true'],
  sacred_hill_l2:
      [...SPREADING, 'capture_first=true', 'build_apart=true,pie_rule=true'],
  sacred_hill_doubles_l1:
      [...SPREADING, 'shared_row_opening=false', 'free_capture=true'],
  sacred_hill_doubles_l2: [...SPREADING, 'capture_first=true'],
  four_treasures: ['free_capture=true', 'opening_distance=3'],
  four_treasures_doubles: ['free_capture=true'],
  high_kings_l1: ['free_pass=true', 'opening_distance=1'],
  high_kings_l2: ['placement_captures_kings=true'],
  poisoned_chalice: ['pie_rule=true'],
  stone_of_destiny: ['opening_distance=2', 'pie_rule=true'],
};

let core;
let catalogue;
let modules;
before(async () => {
  core = await loadCore();
  catalogue = core.catalogue();
  modules = loadModules();
});
after(() => modules.close());

describe('the reason why a hill is refused', () => {
  let whyNot;
  let choose;
  before(async () => {
    ({whyNot} = await modules.load('/src/ui/reasons.ts'));
    ({choose} = await modules.load('/src/ui/selection.ts'));
  });

  // What whyNot takes, of a position's text.
  function situationOf(text) {
    const view = core.view(text);
    const [variant, , , , , , , , options] = text.split(' ');
    const values = {};
    for (const part of options === '-' ? [] : options.split(',')) {
      const [name, value] = part.split('=');
      values[name] =
          value === 'true' ? 1 : value === 'false' ? 0 : Number(value);
    }
    return {
      geometry: catalogue.geometry,
      variant: catalogue.variants.find(({id}) => id === variant),
      options: values,
      position: {
        ...view,
        legal: view.legal.map((index) => catalogue.actions[index]),
      },
    };
  }

  // Holds that the hills that are refused are those with a reason, whatever
  // was chosen before. Returns the reasons.
  function check(text) {
    const situation = situationOf(text);
    const {position, geometry} = situation;
    if (position.finished) return [];
    const reasons = [];
    const hold = (refused, hill, chosen) => {
      const reason = whyNot(situation, hill, chosen);
      const {name} = geometry.hills[hill];
      assert.equal(
          reason !== null, refused,
          `${text}\n${name} after ${chosen}: ${reason}`);
      if (reason !== null) reasons.push(reason);
    };
    const starts = new Set(
        position.legal.filter(({from}) => from !== null).flatMap(
            ({kind, from, to}) => kind === 'link' ? [from, to] : [from]));
    for (const {index: hill} of geometry.hills) {
      hold(choose(position, null, hill).kind === 'refuse', hill, null);
      for (const chosen of starts) {
        // Another start would be chosen instead.
        if (starts.has(hill) && position.phase !== 'link') continue;
        if (chosen === hill) continue;
        const played = position.legal.some(
            ({kind, from, to}) => (from === chosen && to === hill) ||
                (kind === 'link' && from === hill && to === chosen));
        hold(!played, hill, chosen);
      }
    }
    return reasons;
  }

  // Plays a game by `next`, which chooses an action of the legal ones, or
  // returns null at its end. Returns the reasons met.
  function play(variant, options, next) {
    const reasons = [];
    let text = core.initialPosition(variant, options).value;
    for (;;) {
      reasons.push(...check(text));
      const action = next(core.view(text).legal);
      if (action === undefined) return reasons;
      text = core.play(text, action).value.text;
    }
  }

  const golden = (folder, variant) =>
      readFileSync(path.join(root, folder, `${variant}.jsonl`), 'utf8')
          .trim().split('\n').map((line) => JSON.parse(line));

  for (const variant of Object.keys(OPTIONS)) {
    test(`is there exactly for illegal hills in ${variant}`, () => {
      // Half of these games are made of events that are rare.
      const games = golden('tests/golden', variant).slice(0, 24);
      for (const {steps} of games) {
        const actions = steps.map(({action}) => action);
        assert.ok(play(variant, '-', () => actions.shift()).length > 100);
      }
      const random = randomNumbers(11);
      for (const options of OPTIONS[variant]) {
        for (let game = 0; game < 4; ++game) {
          play(variant, options, (legal) => {
            if (legal.length === 0) return undefined;
            const index = legal[Math.floor(random() * legal.length)];
            const {kind, notation} = catalogue.actions[index];
            // The index of the pass is the swap's where nobody can pass.
            return kind === 'pass' && /pie_rule/.test(options) ?
                'swap' : notation;
          });
        }
      }
    });
  }

  const hillNamed = (name) =>
      catalogue.geometry.hills.find((hill) => hill.name === name).index;

  // Positions, and the reasons of their hills; "D3/E4" is E4 when D3, a king or
  // a ringfort to link, was pointed at before.
  const CASES = [
    // Sacred Hill, Manoeuvres.
    ['sacred_hill_l1 5/4r2/7/3r3/7/7/5 0 manoeuvres - 0,0 0 - -', {
      D4: 'A Red ringfort stands on D4 already.',
      E4: 'E4 is too near to D4: nearer than a knight’s move.',
      A2: 'A2 is not a knight’s move from a Red ringfort.',
      D5: 'D5 is too near to D4: nearer than a knight’s move.',
    }],
    ['sacred_hill_l1 5/4r2/7/3b3/7/7/5 0 manoeuvres - 0,0 0 - -', {
      D4: 'A Blue ringfort stands on D4: captures begin with Battle.',
    }],
    ['sacred_hill_l1 5/7/7/3r3/7/7/5 0 manoeuvres - 0,0 0 - proximity_bound=3',
     {
       E5: 'E5 is too near to D4.',
       D6: 'D6 is not a knight’s move from a Red ringfort.',
     }],
    ['sacred_hill_l1 5/7/7/7/7/7/5 0 manoeuvres - 0,0 0 - opening_distance=2', {
      E5: 'The first ringfort must be at least 2 steps from D4.',
    }],
    // Battle of Level 1.
    ['sacred_hill_l1 5/7/7/7/r6/br5/5 0 battle - 0,0 0 - -', {
      C2: 'Red must capture a besieged ringfort first: A2.',
      B2: 'A Red ringfort stands on B2 already.',
    }],
    ['sacred_hill_l1 5/7/3b3/3bb2/r6/7/5 0 battle - 0,0 0 - -', {
      D5: 'D5 is linked to D4: only a single ringfort can be besieged.',
      G6: 'G6 is not next to a Red ringfort.',
    }],
    ['sacred_hill_l1 5/7/7/7/r6/b6/5 0 battle - 0,0 0 - -', {
      A2: 'A2 is not besieged: no Red ringfort on B2.',
    }],
    // Battle of Level 2: the drawing of section 4.
    ['sacred_hill_l2 5/7/7/7/7/1r1r3/br3 0 battle - 0,0 0 - -', {
      B1: 'B1 has 2 of Red’s ringforts next to it, C2 has 3: the most ' +
          'ringforts come first.',
      G6: 'G6 has none of Red’s ringforts next to it, C2 has 3: the most ' +
          'ringforts come first.',
    }],
    ['sacred_hill_l2 5/7/7/2r1r2/r2r3/br5/5 0 battle - 0,0 0 - ' +
         'capture_first=true',
     {D4: 'Red must capture a besieged ringfort first: A2.'}],
    // Doubles.
    ['sacred_hill_doubles_l1 5/7/7/7/7/7/5 0 manoeuvres - 0,0 0 - -', {
      D6: 'D6 is outside the rows of Red South: ranks 1 to 4.',
      D3: 'The first Red ringfort must be on rank 4, which the partners share.',
    }],
    ['sacred_hill_doubles_l1 5/7/7/4r2/7/7/5 1 manoeuvres - 0,0 0 - -', {
      E5: 'E5 is outside the rows of Blue West: files A to D.',
      C3: 'The first Blue ringfort must be on file D, which the partners share.',
    }],
    // Four Treasures.
    ['four_treasures 5/7/7/7/r6/br5/5 0 battle - 0,0 0 - -', {
      G6: 'Red must capture a besieged ringfort first: A2.',
    }],
    // High Kings.
    ['high_kings_l1 5/7/7/3R3/7/7/1B3 0 placement - 0,0 0 - -', {
      D5: 'D5 is next to the Red ringfort on D4.',
      C1: 'A Blue ringfort stands on C1 already.',
    }],
    ['high_kings_l1 3B1/R4B1/7/7/3R3/7/Br2R 0 manoeuvres - 0,0 0 - -', {
      B1: 'A Blue king stands on B1: kings are captured by besieging them.',
      D6: 'D6 is not a knight’s move from a Red king.',
      C1: 'A ringfort stands on C1: in Manoeuvres kings go to vacant hills.',
      'D3/E4': 'E4 is not a knight’s move from the king on D3.',
      'A6/B6': 'B6 is not a knight’s move from the king on A6.',
    }],
    // Section 7.1, "safe from one king, not from another".
    ['high_kings_l1 1Bbrr/rbrrrrr/RrrBrrr/rrrrrrr/rrrrrRr/rRrrrrB/rrrr1 0 ' +
         'battle - 0,0 0 - -',
     {
       B2: 'The king on B2 reaches no vacant hill that is not next to a Red ' +
           'king; another king can, and must move.',
       C6: 'A ringfort stands on C6: as long as a king can reach a vacant ' +
           'hill, one must.',
       B6: 'B6 is not a knight’s move from a Red king.',
     }],
    // "A skipped turn, then a pass".
    ['high_kings_l1 Rrr1r/rrrrrrr/Rrrrrrr/rrrrrrr/rrrrrrR/Brrrrrr/Brrrr 1 ' +
         'battle - 1,0 0 - -',
     {A2: 'Blue can only pass: no Blue king has a move.'}],
    // Section 7.2: a stranded king.
    ['high_kings_l2 rrr1r/rrrrrrr/Rrrrrrr/rrrrrrR/rrTrrrr/rrrrrrB/brrrR 1 ' +
         'battle - 1,0 0 - -',
     {
       G2: 'The stranded king on C3 must move first.',
       E1: 'E1 is not a knight’s move from the king on C3.',
     }],
    // Poisoned Chalice.
    ['poisoned_chalice 3r1/7/7/7/7/7/5 1 manoeuvres - 0,0 0 - -', {
      E1: 'E1 is opposite the ringfort on E7.',
      D4: 'D4 is not on an edge: Manoeuvres are played on the four edges.',
    }],
    ['poisoned_chalice 3r1/6b/7/7/7/7/5 0 manoeuvres - 0,0 0 - -', {
      B7: 'Red has a ringfort on rank 7 already.',
      A6: 'A6 is opposite the ringfort on G6.',
    }],
    ['poisoned_chalice b1r2/6b/r6/7/6r/b6/1r1b1 0 battle - 0,0 0 - -', {
      C4: 'File C does not qualify: it has no Blue ringfort.',
      A2: 'A2 is not besieged: no Red ringfort on B2 or A3.',
    }],
    ['poisoned_chalice b1r2/6b/r6/7/6r/b6/1r1b1 1 battle - 0,0 0 - -', {
      D2: 'Rank 2 does not qualify: it has no Red ringfort.',
    }],
    ['poisoned_chalice b1r2/6b/r6/r6/6r/b6/1r1b1 0 battle - 0,0 0 - -', {
      A3: 'File A does not qualify: it has more Red ringforts than Blue ones.',
    }],
    ['poisoned_chalice b1r2/1r4b/r6/7/r3r1r/br2r1r/1r1b1 0 battle - 0,0 0 - -',
     {C3: 'Red must capture a besieged ringfort first: A2.'}],
    ['poisoned_chalice b1r2/6b/r6/7/r3r1r/br2r1r/1r1b1 0 battle - 0,0 0 - -', {
      A2: 'Red has a qualified row, file B, and must build there before ' +
          'capturing.',
    }],
    // Stone of Destiny.
    ['stone_of_destiny 5/7/7/3R3/7/7/5 1 manoeuvres - 0,0 0 - -', {
      B3: 'B3 is not one or two steps, straight or diagonal, from the Red ' +
          'king on D4.',
      D4: 'A Red ringfort stands on D4 already.',
    }],
    ['stone_of_destiny rbbrb/rrbrbbr/rbrbrrb/bbBbrbr/brrbbrb/rbrrbrb/brRbr 0 ' +
         'battle E1=E2 0,0 0 - -',
     {
       C4: 'The Blue king stands on C4.',
       E1: 'E1 is linked and therefore permanently safe.',
       B7: 'B7 is Red’s: a Blue ringfort is swapped.',
     }],
    ['stone_of_destiny rbbrb/rrbrbbr/rbrbrrb/bbBbrbr/brrbbrb/rbrrbrb/brRbr 1 ' +
         'link - 0,0 0 - -',
     {
       B7: 'B7 is Red’s: two Blue ringforts are linked.',
       G5: 'G5 has no Blue ringfort next to it that it is not linked with.',
       'A3/C4': 'C4 is not next to A3.',
     }],
  ];

  test('says what the rule is', () => {
    for (const [text, expected] of CASES) {
      const checked = core.checkPosition(text);
      assert.equal(checked.error, undefined, text);
      check(checked.value);
      const situation = situationOf(checked.value);
      for (const [where, reason] of Object.entries(expected)) {
        const [hill, chosen] = where.split('/').reverse();
        assert.equal(
            whyNot(
                situation, hillNamed(hill),
                chosen === undefined ? null : hillNamed(chosen)),
            reason, text);
      }
    }
  });
});

describe('the drawings of the rules', () => {
  let FAMILIES;
  let rulesInShort;
  let rulesOfTurn;
  let lettersOf;
  before(async () => {
    ({FAMILIES, rulesInShort, rulesOfTurn} =
        await modules.load('/src/ui/families.ts'));
    ({lettersOf} = await modules.load('/src/ui/board/drawing.ts'));
  });

  test('are boards, and their dots and crosses are right', () => {
    let compared = 0;
    // The drawings of pairs are those of singles.
    const singles = catalogue.variants.filter(({seats}) => seats.length === 2);
    for (const variant of singles) {
      const rules = [FAMILIES[variant.family].aim, ...rulesInShort(variant)];
      for (const {phase, drawings = []} of rules) {
        for (const {board, side = 0, caption} of drawings) {
          const letters = lettersOf(board, catalogue.geometry);
          assert.match(letters.join(''), /^[.rbRBST+x]{45}$/, caption);
          // Those of no phase show what an action would bring.
          if (phase === undefined || !letters.includes('+')) continue;
          const bare = board.replace(/[+x]/g, '1').replace(
              /\d+/g, (run) => [...run].reduce((a, b) => a + Number(b), 0));
          const {value, error} = core.checkPosition(
              `${variant.id} ${bare} ${side} ${phase} - 0,0 0 - -`);
          assert.equal(error, undefined, caption);
          const legal = core.view(value).legal
              .map((index) => catalogue.actions[index])
              // Of the king in the middle.
              .filter(({from}) =>
                from === null || catalogue.geometry.hills[from].name === 'D4')
              .map(({to}) => to);
          const dots = letters.flatMap((l, hill) => l === '+' ? [hill] : []);
          assert.deepEqual(
              [...new Set(legal)].sort(), dots.sort(),
              `${variant.id} ${caption}`);
          ++compared;
        }
      }
    }
    assert.ok(compared >= 8, `${compared} were compared`);
  });

  test('are followed by what rule options change of them', async () => {
    const {aimInWords, otherRules, decisiveCount} =
        await modules.load('/src/ui/words.ts');
    const game = (id, options, position) => ({
      variant: catalogue.variants.find((variant) => variant.id === id),
      options,
      position,
    });
    assert.equal(otherRules(game('four_treasures', {})), '');
    const options = {free_capture: 1, last_turns: 0, compensation: -2.5};
    const all = otherRules(game('four_treasures', options));
    assert.match(all, /^This game has other rules\. /);
    assert.match(all, / Compensation \u22122\.5: points given to Blue's side/);
    assert.match(all, / Free capture: a besieged enemy single may be captured/);
    assert.match(all, / Without last turns: the game ends at once when /);
    // Those of a turn have nothing of the result.
    assert.equal(
        otherRules(game('four_treasures', options), true),
        'This game has other rules. Free capture: a besieged enemy single ' +
            'may be captured, but need not be.');
    // Every switch that can be turned off says what holds then.
    for (const {id, options: all} of catalogue.variants) {
      for (const {name, isSwitch, defaultValue} of all) {
        if (!isSwitch || defaultValue === 0) continue;
        assert.match(
            otherRules(game(id, {[name]: 0})),
            /^This game has other rules\. Without [a-z ]+: [a-z][a-z ,]+\.$/,
            name);
      }
    }
    const {compensation, last_turns: last} = options;
    assert.equal(
        otherRules(
            game('four_treasures', {compensation, last_turns: last}), true),
        '');

    assert.equal(
        aimInWords(game('sacred_hill_l1', {})),
        'Fewest kingdoms wins; if equal, most ringforts.');
    assert.equal(
        aimInWords(game('sacred_hill_l1', {territory_breaks_ties: 0})),
        'Fewest kingdoms wins.');

    const position = {
      ending: 'out',
      score: {kingdoms: [2, 2], territory: [9, 7]},
    };
    assert.equal(
        decisiveCount(game('sacred_hill_l1', {}, position)),
        '2 kingdoms each; Red has 9 ringforts, Blue 7');
    assert.equal(
        decisiveCount(
            game('sacred_hill_l1', {territory_breaks_ties: 0}, position)),
        '2 kingdoms each, and ringforts do not count');
  });

  test('every turn of a game has its rule', () => {
    const random = randomNumbers(4);
    for (const variant of catalogue.variants) {
      let text = core.initialPosition(variant.id, '-').value;
      for (;;) {
        const view = core.view(text);
        if (view.finished) break;
        const legal = view.legal.map((index) => catalogue.actions[index]);
        assert.ok(rulesOfTurn(variant, {...view, legal}).length > 0, text);
        const action = legal[Math.floor(random() * legal.length)];
        text = core.play(text, action.notation).value.text;
      }
    }
  });
});
