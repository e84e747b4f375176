// A whole front-end of the package tara-core: a person plays Red, the computer
// Blue, in all variants.

import {createEngine} from 'tara-core';

const RED = 0;
const SIDES = ['red', 'blue'];
const $ = (id) => document.getElementById(id);

const engine = await createEngine();
const {hills, size} = engine.info.geometry;

let game;         // as the engine last showed it
let from = null;  // the hill of the king, or of the link, that was begun
let search = null;  // the computer's, under way

function say(text) {
  $('said').textContent = text;
}

// The legal actions that a click on a hill may mean: the ones that end there,
// or begin there if nothing was begun yet.
function meant(hill) {
  const {legal} = game.position;
  if (from !== null) {
    return legal.filter((action) => action.from === from && action.to === hill);
  }
  return legal.filter(
      (action) => (action.from ?? action.to) === hill);
}

const isPersonsTurn = () => game.position.side === RED;

function hillButton({index, name}) {
  const {owner, king} = game.position.hills[index];
  const button = document.createElement('button');
  button.textContent = king === null ? name : '♔';
  button.title = name;
  button.dataset.hill = name;
  if (owner !== null) button.classList.add(SIDES[owner]);
  if (king !== null) button.ariaLabel = `${SIDES[king]} king on ${name}`;
  button.ariaPressed = String(index === from);
  button.disabled =
      !isPersonsTurn() || (meant(index).length === 0 && index !== from);
  button.onclick = () => choose(index);
  return button;
}

function show() {
  const cells = [];
  for (let rank = size - 1; rank >= 0; --rank) {
    for (let file = 0; file < size; ++file) {
      const hill =
          hills.find((each) => each.rank === rank && each.file === file);
      cells.push(hill ? hillButton(hill) : document.createElement('span'));
    }
  }
  $('board').replaceChildren(...cells);
  // A pass or a swap has no hill.
  const others = isPersonsTurn() ?
    game.position.legal.filter(({to}) => to === null) :
    [];
  $('others').replaceChildren(...others.map((action) => {
    const button = document.createElement('button');
    button.textContent = action.notation;
    button.onclick = () => play(action);
    return button;
  }));
  say(game.position.description);
}

function choose(hill) {
  const actions = meant(hill);
  const begins = actions.some((action) => action.from === hill);
  if (hill === from || begins) {
    from = hill === from ? null : hill;
    show();
  } else {
    void play(actions[0]);
  }
}

// Until the engine has answered and the board is shown, clicks do nothing.
function lock() {
  const all = document.querySelectorAll('#board button, #others button');
  for (const button of all) button.disabled = true;
}

async function play(action) {
  from = null;
  lock();
  game = await engine.play(action.index);
  show();
  await letComputerPlay();
}

async function letComputerPlay() {
  while (!game.position.finished && !isPersonsTurn()) {
    search = engine.search({level: $('level').value});
    const {action, stopped} = await search.result;
    search = null;
    if (stopped) return;
    game = await engine.play(action.index);
    show();
  }
}

async function begin() {
  search?.stop();
  from = null;
  lock();
  game = await engine.newGame($('variant').value);
  show();
  await letComputerPlay();
}

function fill(select, items) {
  select.replaceChildren(
      ...items.map(({id, name}) => new Option(name, id)));
}

fill($('variant'), engine.info.variants);
fill($('level'), engine.info.levels);
$('level').value = 'level:5';
$('variant').onchange = () => void begin();
$('network').onchange = async ({target}) => {
  const [file] = target.files;
  try {
    await engine.loadNetwork(file, file.name);
    say(`${file.name} plays Blue`);
  } catch (error) {
    say(error.message);
  }
};
await begin();
