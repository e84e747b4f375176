// What pages of reports do beyond showing their text: tables that sort and are
// downloaded, and what plots tell where one points at them.

// The number that a text is, or "": "inf", "-", words.
const numberIn = (text) => {
  const number = Number(text.replace("\u2212", "-") || NaN);
  return isFinite(number) ? number : "";
};

// What a cell of a body has: its number, "" if none, and its interval.
function numbersOf(cell) {
  if (cell.tagName === "TH") return ["", "", ""];
  const value = numberIn(cell.dataset.v ?? cell.firstChild?.data ?? "");
  const range = cell.querySelector("small")?.textContent ?? "";
  if (range.startsWith("\u00b1")) {
    const half = numberIn(range.slice(1));
    return [value, value - half, value + half];
  }
  const [low = "", high = ""] = range.slice(1, -1).split(", ");
  return [value, numberIn(low), numberIn(high)];
}

const isNumber = (cell) => numbersOf(cell)[0] !== "";

function compare(a, b) {
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? -1 : 1;
  return isNumber(a) ? numbersOf(a)[0] - numbersOf(b)[0] :
      a.textContent.localeCompare(b.textContent, "en");
}

// Sorts a table by a column: numbers the greatest first, then turned about.
function sortBy(table, column) {
  const heading = table.tHead.rows[0].cells[column];
  const rows = [...table.tBodies[0].rows];
  const descending = heading.ariaSort ? heading.ariaSort === "ascending" :
      rows.some((row) => isNumber(row.cells[column]));
  for (const each of table.tHead.rows[0].cells) each.ariaSort = null;
  heading.ariaSort = descending ? "descending" : "ascending";
  rows.sort((a, b) => (descending ? -1 : 1) *
      compare(a.cells[column], b.cells[column]));
  table.tBodies[0].append(...rows);
}

// A table as CSV: an estimate with its interval in two more columns.
function csvOf(table) {
  const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
  const headings = [...table.tHead.rows[0].cells];
  const line = (row) => [...row.cells].flatMap((cell, i) => {
    const name = quoted(cell.innerText);
    const hasInterval = headings[i].dataset.interval !== undefined;
    if (row === table.tHead.rows[0]) {
      return hasInterval ? [name, quoted(`${cell.innerText} low`),
                            quoted(`${cell.innerText} high`)] : [name];
    }
    const [value, low, high] = numbersOf(cell);
    const text = value === "" ? name : value;
    return hasInterval ? [text, low, high] : [text];
  }).join(",");
  return [...table.rows].map(line).join("\r\n") + "\r\n";
}

addEventListener("click", ({target}) => {
  if (target.matches(".sort")) {
    sortBy(target.closest("table"), target.parentElement.cellIndex);
  } else if (target.matches(".csv")) {
    const section = target.closest("section");
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(
        [csvOf(section.querySelector("table"))], {type: "text/csv"}));
    link.download = `${section.id}.csv`;
    link.click();
  }
});

const tip = document.createElement("div");
tip.id = "tip";
document.body.append(tip);
function showTip({target, clientX, clientY}) {
  const text = target.closest?.("[data-tip]")?.dataset.tip;
  tip.hidden = text === undefined;
  if (tip.hidden) return;
  tip.textContent = text;
  tip.style.left = `${Math.max(8, Math.min(
      clientX + 14, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${clientY > innerHeight / 2 ?
      clientY - tip.offsetHeight - 10 : clientY + 16}px`;
}
showTip({target: document.body});
addEventListener("pointermove", showTip);
addEventListener("pointerdown", showTip);

// Paper does not scroll: tables that are too wide get smaller.
function fitTables(onPaper) {
  for (const table of document.querySelectorAll(".wide > table")) {
    table.style.zoom = 1;
    const share = table.parentElement.clientWidth / table.scrollWidth;
    if (onPaper && share < 1) table.style.zoom = share;
  }
}
addEventListener("beforeprint", () => {
  document.documentElement.classList.add("paper");
  fitTables(true);
});
addEventListener("afterprint", () => {
  document.documentElement.classList.remove("paper");
  fitTables(false);
});
