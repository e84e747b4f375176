// Parts of the page that need no browser: the knot of the bridges, and how
// pointing at hills becomes an action.

import assert from 'node:assert/strict';
import {describe, test} from 'node:test';

import {loadCore, moduleLoader, randomGame} from './harness.mjs';
import {randomNumbers} from './ui_page.mjs';

// A promise, and what settles it.
function withResolvers() {
  const made = {};
  made.promise = new Promise((resolve, reject) => {
    Object.assign(made, {resolve, reject});
  });
  return made;
}

const load = moduleLoader();
const {knot, RING_RADIUS} = await load('/src/ui/board/knotwork.ts');
const {boardOf, lettersOf, placed} = await load('/src/ui/board/drawing.ts');
const keptGames = await load('/src/ui/kept_games.ts');
const links = await load('/src/ui/links.ts');
const {nextLevel} = await load('/src/ui/results.ts');
const {choose} = await load('/src/ui/selection.ts');
const {Session} = await load('/src/ui/session.ts');
const {analysisSentences, standingSentence} = await load('/src/ui/words.ts');

describe('the knot of the bridges', () => {
  const SIDE = 5;
  const STEP = 100;

  const points = Array.from({length: SIDE * SIDE}, (_, i) => (
      {x: STEP * (i % SIDE), y: STEP * Math.floor(i / SIDE)}));

  // Ringforts on about three hills in five, with most of the bridges they can
  // have.
  function randomGraph(random) {
    const forts = points.map((_, i) => i).filter(() => random() < 0.6);
    const bridges = [];
    for (const fort of forts) {
      for (const other of [fort + 1, fort + SIDE]) {
        const near = Math.abs(points[fort].y - points[other]?.y) +
            Math.abs(points[fort].x - points[other]?.x) === STEP;
        if (near && forts.includes(other) && random() < 0.8) {
          bridges.push([fort, other]);
        }
      }
    }
    return {forts, bridges};
  }

  const numbers = (text) => text.match(/-?\d+(\.\d+)?/g).map(Number);

  // Both ends of each open strand, as {x, y, angle}: the place, and the
  // direction in which the strand is drawn there.
  function strandEnds(data) {
    const ends = [];
    for (const piece of data.split('M').slice(1)) {
      if (piece.endsWith('Z')) continue; // a ring
      const values = numbers(piece);
      const at = (i) => ({x: values.at(i), y: values.at(i + 1)});
      const direction = (p, q) => Math.atan2(q.y - p.y, q.x - p.x);
      const [first, handle] = [at(0), at(2)];
      const last = {x: values.at(-2), y: values.at(-1)};
      const before = {x: values.at(-4), y: values.at(-3)};
      ends.push({
        start: {...first, angle: direction(first, handle)},
        end: {...last, angle: direction(before, last)},
      });
    }
    return ends;
  }

  // Holds that each of `ends` meets another in the same place and the opposite
  // direction, up to some degrees.
  function meetInPairs(ends) {
    const rest = [...ends];
    while (rest.length > 0) {
      const end = rest.pop();
      const partner = rest.findIndex(
          ({x, y, angle}) => x === end.x && y === end.y &&
              Math.cos(angle - end.angle) < -0.98);
      assert.notEqual(partner, -1, JSON.stringify({end, rest}));
      rest.splice(partner, 1);
    }
  }

  test('goes on smoothly over every bridge, and ends nowhere', () => {
    const random = randomNumbers(42);
    for (let round = 0; round < 50; ++round) {
      const {forts, bridges} = randomGraph(random);
      const strands = strandEnds(knot(points, forts, bridges).strands);
      assert.equal(strands.length, 2 * bridges.length);
      // All strands are drawn clockwise round their ringforts, so on a bridge
      // two starts meet, head to head, and two ends. Each strand is on top
      // where it starts, so that it is on top and below in turn.
      meetInPairs(strands.map(({start}) => start));
      meetInPairs(strands.map(({end}) => end));
    }
  });

  test('has a crossing on each bridge, in its middle', () => {
    const random = randomNumbers(7);
    const {forts, bridges} = randomGraph(random);
    const {crossings} = knot(points, forts, bridges);
    assert.equal(crossings.length, bridges.length);
    const middle = (x, y, u, v) => [(x + u) / 2, (y + v) / 2];
    assert.deepEqual(
        crossings.map((data) => middle(...numbers(data))),
        bridges.map((ends) => middle(
            ...ends.flatMap((end) => [points[end].x, points[end].y]))));
  });

  test('is a ring round a ringfort without a bridge', () => {
    const {strands, crossings} = knot(points, [12], []);
    assert.deepEqual(crossings, []);
    assert.match(strands, new RegExp(`A${RING_RADIUS} ${RING_RADIUS} .*Z$`));
  });
});

describe('pointing at hills', () => {
  const action = (index, kind, from, to) => ({index, kind, from, to});
  test('at where a king goes and then at the king moves it, too', () => {
    const moves = [action(1, 'king_move', 3, 9), action(2, 'king_move', 4, 9)];
    const there = {legal: moves};
    assert.deepEqual(choose(there, null, 9), {kind: 'choose', hill: 9});
    assert.deepEqual(choose(there, 9, 4), {kind: 'play', action: moves[1]});
  });

  test('at two ringforts in either order links them', () => {
    const link = action(5, 'link', 7, 8);
    const there = {legal: [link]};
    assert.deepEqual(choose(there, 8, 7), {kind: 'play', action: link});
    assert.deepEqual(choose(there, 7, 8), {kind: 'play', action: link});
  });
});

describe("the computer's turn", () => {
  const COMPUTER = 'level:1';
  const PERSON = 'person';

  const game = (name) => ({
    name,
    variant: {seats: [{}, {}]},
    ply: 0,
    actions: [],
    position: {seat: 0, side: 0, finished: false},
  });

  // A session of a new game with these players; `calls` are the engine's.
  const sessionOf = async (players, calls) => {
    const engine = {evaluate: () => new Promise(() => {}), ...calls};
    const events = new Proxy({}, {get: () => () => {}});
    const session = new Session(engine, game('none'), events, 1);
    await session.newGame('any', {}, players, () => {});
    return session;
  };

  // A session with the computer to move, whose search has ended while the pace
  // has not: timers come after all that is resolved. `played`: the games that
  // were played on; `loaded` answers the text that is loaded.
  const atPace = async () => {
    const played = [];
    const loaded = withResolvers();
    let now = game('old');
    const session = await sessionOf([COMPUTER, PERSON], {
      newGame: async () => now,
      loadGame: () => loaded.promise.then((found) => (now = found)),
      play: async () => {
        played.push(now.name);
        return {...now, ply: 1, position: {...now.position, seat: 1, side: 1}};
      },
      search: () => ({
        result: Promise.resolve({action: {index: 7}, by: 'network'}),
        stop: () => {},
      }),
    });
    session.begin();
    for (let i = 0; i < 20; ++i) await null;
    assert.equal(session.thinking, null);
    return {session, played, loaded};
  };

  // Until a pace that has begun by now has ended.
  const paceEnded = () => new Promise((resolve) => setTimeout(resolve, 20));

  test('is played once its pace has ended', async () => {
    const {session, played} = await atPace();
    await paceEnded();
    assert.deepEqual(played, ['old']);
    assert.equal(session.game.ply, 1);
  });

  test('is not played when a person has taken the seat', async () => {
    const {session, played} = await atPace();
    session.setPlayer(0, PERSON);
    await paceEnded();
    assert.deepEqual(played, []);
    assert.ok(session.personToMove);
  });

  test('is played once when the computer waited and goes on', async () => {
    const {session, played} = await atPace();
    session.pause();
    session.resume();
    await paceEnded();
    await paceEnded();
    assert.deepEqual(played, ['old']);
  });

  test('does not go into a game that is loaded meanwhile', async () => {
    const {session, played, loaded} = await atPace();
    const players = [PERSON, PERSON];
    const load = session.load('text', {players, paused: false}, () => {});
    await paceEnded();
    // Nor does what a person points at.
    assert.equal(session.personToMove, false);
    await session.play({index: 3});
    loaded.resolve(game('new'));
    await load;
    await paceEnded();
    assert.deepEqual(played, []);
    assert.equal(session.game.name, 'new');
  });

  test('is analysed while the search runs, by the engine’s progress', async () => {
    const found = withResolvers();
    const action = {index: 3, notation: 'D4'};
    const other = {index: 4, notation: 'E4'};
    const progress = (simulations) => ({
      ply: 0,
      simulations,
      actions: [{action: other, visits: 9}, {action, visits: 4}],
      redValue: 0.2,
      redMargin: 1,
      principalVariation: [other],
      by: 'network',
    });
    let report;
    const session = await sessionOf([PERSON, PERSON], {
      newGame: async () => game('new'),
      search: (request, onProgress) => {
        report = onProgress;
        return {result: found.promise, stop: () => {}};
      },
    });
    session.toggleAnalysis();
    report(progress(100));
    assert.equal(session.analysis.simulations, 100);
    report(progress(200));
    assert.equal(session.analysis.simulations, 200);
    // What is said of the position is the same everywhere.
    assert.ok(Math.abs(session.course.at(0).red - 0.6) < 1e-9);
    found.resolve({...progress(300), action, stopped: false});
    for (let i = 0; i < 20; ++i) await null;
    // What the search advises comes first, though it was visited less.
    assert.deepEqual(
        session.analysis.actions.map((each) => each.action), [action, other]);
    assert.equal(session.thinking, null);
  });

  test('comes when a text is refused', async () => {
    const {session, played, loaded} = await atPace();
    const load = session.load('text', {players: [], paused: false}, () => {});
    await paceEnded();
    loaded.reject(new Error('no game'));
    await assert.rejects(load, /no game/);
    await paceEnded();
    assert.deepEqual(played, ['old']);
  });
});

describe('an analysis in words', () => {
  const action = (index, notation) => ({index, notation});
  const found = {
    simulations: 800,
    redValue: 0.06,
    redMargin: -0.42,
    actions: [
      {action: action(1, 'E2'), visits: 280, value: 0.06},
      {action: action(4, 'C3'), visits: 500, value: 0.02},
    ],
  };
  const evaluation = (by, ...policy) => ({
    by,
    policy: policy.map(
        ([index, notation, probability]) =>
            ({action: action(index, notation), probability})),
  });
  const VALUE =
      'After 800 simulations: Red 53\u00a0% · Blue 47\u00a0%, Blue by 0.4 points.';

  test('says where the policy preferred another action', () => {
    assert.deepEqual(
        analysisSentences(
            found, evaluation('network', [4, 'C3', 0.412], [1, 'E2', 0.02])),
        [
          VALUE,
          'At first sight, the network preferred C3 (41\u00a0% against ' +
              '2\u00a0%).',
        ]);
    // Without a network it has no opinion.
    assert.deepEqual(
        analysisSentences(found, evaluation('playouts', [4, 'C3', 0.5])),
        [VALUE]);
  });
});

describe('the level to play next', () => {
  const levels = Array.from({length: 10}, (_, i) => ({
    id: `level:${i + 1}`,
    name: `Level ${i + 1}`,
    elo: {any: {elo: 500 + 100 * i, interval: 0}},
  }));
  const next = (level, score, rating) =>
      nextLevel(levels, 'any', {level: `level:${level}`, score}, rating).name;

  test('is one step by the result while there are few games', () => {
    assert.equal(next(1, 1, null), 'Level 2');
    assert.equal(next(4, 0.5, null), 'Level 4');
    assert.equal(next(4, 0, null), 'Level 3');
    assert.equal(next(1, 0, null), 'Level 1');
    assert.equal(next(10, 1, null), 'Level 10');
    assert.equal(
        standingSentence({games: 1, rating: null, next: levels[1]}),
        '1 game so far. Next: Computer 2.');
  });

  test('is one step towards the rating, and not above its lower end', () => {
    // Of 1400 Elo, which is level 10.
    const rating = (interval) => ({elo: 1400, interval});
    assert.equal(next(4, 1, rating(100)), 'Level 5');
    assert.equal(next(4, 0, rating(100)), 'Level 5');
    assert.equal(next(4, 1, rating(600)), 'Level 4');
    assert.equal(next(10, 0, rating(600)), 'Level 10');
    // Of 600 Elo, which is level 2.
    assert.equal(next(4, 1, {elo: 600, interval: 50}), 'Level 3');
    assert.equal(
        standingSentence({games: 6, rating: rating(613), next: levels[3]}),
        'You have about 1400 Elo (790 to 2010, by 6 games). Next: Computer 4.');
  });
});

describe('texts in links', () => {
  const TEXTS = [
    'sacred_hill_l1 D4 E5 F3',
    'high_kings_l2 no_progress_limit=7 D4 C5-B3* pass',
    'stone_of_destiny 5/7/7/3R3/7/7/5 1 manoeuvres - 0,0 0 - -',
    'four_treasures 5/7/7/2rb3/7/7/5 0 battle - 0,0 0 out:1 ' +
        'compensation=-2.5,last_turns=false D5 E4',
  ];

  test('come back, and are whole addresses for chats', () => {
    for (const text of TEXTS) {
      const encoded = links.encode(text);
      // No character that ends or changes an address in running text.
      assert.match(encoded, /^[\w/:,.=+%-]*\w$/);
      assert.equal(links.decode(encoded), text);
      // As programs that know the format of addresses write them.
      assert.equal(links.decode(encodeURIComponent(text)), text);
      const pasted = ` http://localhost:8045/tara/#${encoded}\n`;
      assert.equal(links.textOfPasted(pasted), text);
      assert.equal(links.textOfPasted(` ${text}\n`), text);
    }
    assert.throws(() => links.decode('sacred%zz'), /'sacred%zz'.*hexadecimal/);
  });

  test('come without what others append to an address', () => {
    for (const text of TEXTS) {
      for (const tail of [
        ')', '.', ').', ',', '!', '>', '”', ']', '%29', '&fbclid=IwAR0.x-y',
        '?utm_source=a&b=c.', '+',
      ]) {
        assert.equal(links.decode(links.encode(text) + tail), text, tail);
      }
    }
    const json = '{"variant":"four_treasures","steps":[{"action":"D4"}]}';
    assert.equal(links.decode(encodeURIComponent(json)), json);
  });

  test('say without the rules whether anything would be missed', () => {
    assert.deepEqual(
        TEXTS.map((text) => keptGames.outline(text)),
        [
          {variant: 'sacred_hill_l1', actions: 3, isSetUp: false},
          {variant: 'high_kings_l2', actions: 3, isSetUp: false},
          {variant: 'stone_of_destiny', actions: 0, isSetUp: true},
          {variant: 'four_treasures', actions: 2, isSetUp: true},
        ]);
    assert.equal(keptGames.isBegun('sacred_hill_l1'), false);
    assert.equal(keptGames.isBegun(TEXTS[2]), true);
  });
});

describe('the board of the editor', () => {
  test('has what the core sees in the text that it writes', async () => {
    const core = await loadCore();
    const {geometry, variants} = core.catalogue();
    const random = randomNumbers(9);
    const hill = (name) => geometry.hills.findIndex((h) => h.name === name);
    const key = ({from, to, side}) => `${from} ${to} ${side}`;
    for (const {id} of variants) {
      for (const {text, view} of randomGame(core, id, random)) {
        // The end of the game has linked what was not.
        if (view.finished) break;
        const [, board, , , links] = text.split(' ');
        const letters = lettersOf(board, geometry);
        assert.equal(boardOf(letters, geometry), board);
        const pairs = id === 'stone_of_destiny' ?
          links.split(',').filter((link) => link !== '-')
              .map((link) => link.split('=').map(hill)) :
          undefined;
        const {hills, bridges} = placed(letters, geometry, pairs);
        assert.deepEqual(hills, view.hills);
        assert.deepEqual(
            bridges.map(key).sort(), view.bridges.map(key).sort(), text);
      }
    }
  });
});
