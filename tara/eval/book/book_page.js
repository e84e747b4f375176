
// The explorer of an opening book: the board and the table of the position that
// a line of actions leads to.

const report = JSON.parse(document.getElementById("report").textContent);
const positions = report.places;
const escaped = (text) => text.replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;").replaceAll('"', "&quot;");

// --- Symmetries --------------------------------------------------------------

// Hills are texts such as "D4". The bits of a board transform: 4 exchanges
// files and ranks, then 1 flips the files, 2 the ranks.
function transformed(transform, hill) {
  let file = hill.charCodeAt(0) - 65, rank = Number(hill[1]) - 1;
  if (transform & 4) [file, rank] = [rank, file];
  if (transform & 1) file = 6 - file;
  if (transform & 2) rank = 6 - rank;
  return "ABCDEFG"[file] + (rank + 1);
}

// An action as `map` moves its hills; links name the southern or western hill
// first.
function mapped(action, map) {
  const moved = action.replace(/[A-G][1-7]/g, map);
  const link = moved.match(/^(..)=(..)$/);
  if (!link) return moved;
  const order = (hill) => hill[1] + hill[0];
  return order(link[1]) < order(link[2]) ? moved : `${link[2]}=${link[1]}`;
}

// --- Positions ---------------------------------------------------------------

// A view is a position of the book as the actions of its line lead to it: `map`
// takes a hill of the book's position to the one that is shown, `shift` its
// seat 0 to the seat to move. An odd one exchanges the colours.
const first = {place: 0, map: (hill) => hill, shift: 0, line: [], before: null};

// The view after an action of a view, by its row and its place among those
// that are the same.
function after(view, action, member) {
  const {place, symmetries} = action.next;
  const [transform, shift] = symmetries[member];
  return {
    place, map: (hill) => view.map(transformed(transform, hill)),
    shift: (view.shift + shift) % report.seats.length,
    line: [...view.line, mapped(action.actions[member], view.map)],
    before: view,
  };
}

// The view after an action as it is shown; null if the book has none.
function afterShown(view, shown) {
  for (const action of positions[view.place].actions) {
    const member = action.actions.findIndex(
        (each) => mapped(each, view.map) === shown);
    if (member >= 0) return action.next ? after(view, action, member) : null;
  }
  return null;
}

// --- The board ---------------------------------------------------------------

// The hills, in the order of the texts of positions: rank 7 first.
const hills = [..."7654321"].flatMap(
    (rank) => [..."ABCDEFG"].map((file) => file + rank))
    .filter((hill) => !/[AG][17]/.test(hill));
const hillAt = (hill) => ({x: 70 * (hill.charCodeAt(0) - 64) - 15,
                           y: 70 * (8 - Number(hill[1])) - 38});

// What stands on the hills of a position: {fort, king} by hill, by side: 0 red.
function piecesOf(position, view) {
  const swap = view.shift % 2;
  const on = {};
  let i = 0;
  for (const letter of position.position.split(" ")[1].replaceAll("/", "")) {
    if (/\d/.test(letter)) {
      i += Number(letter);
      continue;
    }
    const [fort, king] = {r: [0, null], b: [1, null], R: [0, 0], B: [1, 1],
                          S: [1, 0], T: [0, 1]}[letter];
    on[view.map(hills[i++])] = {
      fort: fort ^ swap, king: king === null ? null : king ^ swap};
  }
  return on;
}

const sideColour = (side) => `var(--${side === 0 ? "red" : "blue"})`;

function drawBoard(view) {
  const position = positions[view.place];
  const pieces = piecesOf(position, view);
  let bridges = "";
  const links = position.position.split(" ")[4];
  for (const link of links === "-" ? [] : links.split(",")) {
    const [from, to] = link.split("=").map(view.map);
    const a = hillAt(from), b = hillAt(to);
    bridges += `<line x1="${a.x}" y1="${a.y}" x2="${b.x}" y2="${b.y}" ` +
        `stroke="${sideColour(pieces[from]?.fort ?? 0)}" stroke-width="9"/>`;
  }
  // The best action to each hill.
  const targets = {};
  position.actions.forEach((action, row) => action.actions.forEach((each, i) => {
    const to = mapped(each, view.map).match(/[A-G][1-7]$/)?.[0];
    if (to && !targets[to] && action.winning !== null) {
      targets[to] = {action, row, member: i};
    }
  }));
  const drawn = (hill, {x, y}) => {
    const piece = pieces[hill], target = targets[hill];
    const king = piece?.king ?? null;
    const fort = `<circle cx="${x}" cy="${y}" r="27" ` + (piece ?
        `fill="${sideColour(piece.fort)}"/>` : 'class="hill"/>');
    const standing = king === null ? fort : fort +
        `<path transform="translate(${x} ${y})" ` +
        `d="M-14 10v-20l8 9 6-13 6 13 8-9v20z" stroke="#fff" ` +
        `stroke-width="2" fill="${sideColour(king)}"/>`;
    if (!target) return standing;
    const {action, row, member} = target;
    const shown = mapped(action.actions[member], view.map);
    const strength = Math.max(0, 1 - action.winning_lost / 0.15);
    const go = action.next ? ` class="go" role="button" tabindex="0" ` +
        `aria-label="Play ${shown}: ${Math.round(100 * action.winning)} % of ` +
        `winning" data-row="${row}" data-member="${member}"` :
        "";
    const [winning, lost] = action.cells;
    return `${standing}<g${go} data-tip="${shown}: ${winning} % of winning, ` +
        `${lost} % given away">` +
        `<circle cx="${x}" cy="${y}" r="${piece ? 17 : 27}" ` +
        `fill="color-mix(in srgb, var(--accent) ` +
        `${Math.round(8 + 36 * strength)}%, var(--card))"` +
        `${action.known ? "" : ' stroke-dasharray="3 4"'} ` +
        `stroke="var(--accent)"/><text x="${x}" y="${y + 7}">` +
        `${Math.round(100 * action.winning)}</text></g>`;
  };
  const edges = [1, 2, 3, 4, 5, 6, 7].map((i) =>
      `<text class="edge" x="8" y="${70 * (8 - i) - 33}">${i}</text>` +
      `<text class="edge" x="${70 * i - 15}" y="507">${" ABCDEFG"[i]}</text>`);
  document.getElementById("board").innerHTML =
      `<svg class="board" viewBox="0 0 510 514" role="group" ` +
      `aria-label="Board">${edges.join("")}${bridges}${
          hills.map((hill) => drawn(hill, hillAt(hill))).join("")}</svg>`;
}

// --- The rest ----------------------------------------------------------------

const button = (text, row, member) => row.next ?
    `<button class="step" data-row="${row.row}" data-member="${member}">` +
    `${text}</button>` : `<b>${text}</b>`;

function drawActions(view) {
  const position = positions[view.place];
  const shown = (action) => mapped(action, view.map);
  const headings = ["Action", ...report.headings, "Then"].map(
      (text) => `<th scope="col">${escaped(text)}</th>`);
  const rows = position.actions.map((action, i) => {
    const row = {...action, row: i};
    const like = action.actions.slice(1, 8).map((each, k) =>
        ` <small>${button(shown(each), row, k + 1)}</small>`);
    return `<tr><th scope="row">${button(shown(action.actions[0]), row, 0)}${
        like.join("")}${action.actions.length > 8 ? " <small>&hellip;</small>" :
        ""}</th>${action.cells.map((text) => `<td>${escaped(text)}</td>`)
        .join("")}<td class="faint">${action.line.slice(1).map(shown)
        .join(" ")}</td></tr>`;
  });
  document.getElementById("actions").innerHTML =
      `<thead><tr>${headings.join("")}</tr></thead>` +
      `<tbody>${rows.join("")}</tbody>`;
  document.getElementById("left").textContent = position.left === 0 ? "" :
      `${position.left} more, which neither searches nor games looked into.`;
}

function drawLine(view) {
  const views = [];
  for (let each = view; each; each = each.before) views.unshift(each);
  const list = document.getElementById("line");
  list.innerHTML = views.map((each, i) => {
    const text = i === 0 ? "Start" : each.line.at(-1);
    return `<li><button data-back="${i}"${i === views.length - 1 ?
        ' aria-current="step"' : ""}>${text}</button></li>`;
  }).join(" ");
  list.onclick = ({target}) => {
    const back = target.closest("[data-back]")?.dataset.back;
    if (back !== undefined) show(views[Number(back)]);
  };
}

let shown = null;
function draw(view) {
  shown = view;
  const position = positions[view.place];
  drawLine(view);
  drawBoard(view);
  drawActions(view);
  document.getElementById("turn").textContent =
      `${report.seats[view.shift]} to move` +
      (position.winning === null ? "." :
          `: ${position.shown[0]} % of winning, ` +
          `${position.shown[1]} points ahead.`);
}

// The address has the line, so that one can go back to it and pass it on.
function show(view) {
  const hash = "#" + view.line.join(".");
  if (location.hash !== hash && !(hash === "#" && location.hash === "")) {
    location.hash = hash;
  } else {
    draw(view);
  }
}

function showAddress() {
  let view = first;
  for (const action of decodeURIComponent(location.hash.slice(1)).split(".")) {
    const next = action && afterShown(view, action);
    if (!next) break;
    view = next;
  }
  draw(view);
}

function go({target}) {
  const {row, member} = target.closest("[data-row]")?.dataset ?? {};
  if (row === undefined) return;
  const action = positions[shown.place].actions[Number(row)];
  show(after(shown, action, Number(member)));
}
for (const id of ["board", "actions"]) {
  document.getElementById(id).addEventListener("click", go);
}
document.getElementById("board").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== " ") return;
  event.preventDefault();
  go(event);
});
addEventListener("hashchange", showAddress);

showAddress();
