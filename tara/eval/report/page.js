// What all pages of reports share: colours, numbers, elements, plots.

const colour = (name) =>
    getComputedStyle(document.documentElement).getPropertyValue("--" + name)
        .trim();
let sides = {};

// Takes the colours of the page as it is now: light, dark or printed.
function takeColours() {
  sides = {red: colour("red"), draw: colour("draw"), blue: colour("blue")};
  if (!window.Chart) return;  // a page without plots
  Chart.defaults.color = colour("faint");
  Chart.defaults.borderColor = colour("line");
  Chart.defaults.font.size =
      document.documentElement.dataset.theme === "paper" ? 10 : 12;
}

const words = (name) =>
    (name[0].toUpperCase() + name.slice(1)).replaceAll("_", " ");
// For innerHTML and its attributes, of names that others chose.
const escaped = (text) => text.replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;").replaceAll('"', "&quot;");
// The name of a variant as a heading: "Level 1" stays together.
const unbroken = (name) => name.replace(/ (\d)/g, "\u00a0$1");
// The same in lines, for the axis of a plot.
const inLines = (name) => name.split(/(?<=,) /);
const integer = (n) => n.toLocaleString("en");

// Rounds as the text of the same report does (printf): by the number's exact
// value, and what lies between two to the even one.
function rounded(n, digits) {
  const text = n.toFixed(digits);  // between two: away from 0
  const between = /^50*$/.test(n.toFixed(40).split(".")[1].slice(digits));
  return between && /[13579]$/.test(text) ?
      (n - Math.sign(n) / 2 / 10 ** digits).toFixed(digits) : text;
}
const fixed = (n, digits) => n === null ? "\u2013" :
    Number(rounded(n, digits)).toLocaleString("en", {
      minimumFractionDigits: digits, maximumFractionDigits: digits})
        .replace("-", "\u2212");

// A value with its interval, both as text: as many digits as tell the ends of
// the interval apart, four at most. The interval is "" where there is none.
function withInterval(row, name, scale = 1) {
  const mean = scale * row[name];
  const low = row[name + "_low"], high = row[name + "_high"];
  if (low === null || high === null) return [fixed(mean, 2), ""];
  const width = scale * (high - low);
  const digits = width > 0 ?
      Math.min(4, Math.max(1, 1 - Math.floor(Math.log10(width)))) : 2;
  return [fixed(mean, digits),
          `[${fixed(scale * low, digits)}, ${fixed(scale * high, digits)}]`];
}
// The same as a cell of a table.
function interval(row, name, scale) {
  const [mean, range] = withInterval(row, name, scale);
  return range === "" ? mean : `${mean}<br><small>${range}</small>`;
}

function element(tag, parent, html = "", className = "") {
  const made = document.createElement(tag);
  made.innerHTML = html;
  if (className) made.className = className;
  parent.append(made);
  return made;
}

// Fills a table. A column is [heading, cell of a row], and what the style of a
// cell is, if there is more to say: [heading, cell, style].
function fillTable(table, columns, rows) {
  element("tr", element("thead", table),
          columns.map(([heading]) => `<th scope="col">${heading}</th>`)
              .join(""));
  const body = element("tbody", table);
  for (const row of rows) {
    element("tr", body, columns.map(([, cell, style]) =>
        `<td${style ? ` style="${style(row)}"` : ""}>${cell(row)}</td>`)
        .join(""));
  }
}

// The colour of a cell in a heat table, for its style: `heat` from -1 (worst) to
// 1 (best); 0 has none. Red and blue are the sides' alone.
const heatStyle = (heat) => {
  const share = Math.round(50 * Math.min(1, Math.abs(heat)));
  return share === 0 ? "" : "background: color-mix(in srgb, " +
      `var(--${heat > 0 ? "better" : "worse"}) ${share}%, var(--card))`;
};

if (window.Chart) {
  Chart.defaults.animation = false;
  Chart.defaults.maintainAspectRatio = false;
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.plugins.legend.position = "bottom";
  Chart.defaults.plugins.legend.labels.boxWidth = 14;
  // Wherever the pointer is in a plot, the nearest row is told; what it is
  // called may be in lines.
  Chart.defaults.interaction.mode = "index";
  Chart.defaults.interaction.intersect = false;
  Chart.defaults.plugins.tooltip.callbacks.title = ([item]) =>
      item === undefined ? "" :
          [item.chart.data.labels[item.dataIndex]].flat().join(" ");
}
takeColours();

// Lines that belong together by number: variants, runs.
const lineColours = ["#3f8f6b", "#d97b29", "#8d6cab", "#2f9aa8", "#b5628f",
                     "#c9a227", "#7a8590", "#8a5a3c", "#8f8a55", "#4d6a4d"];

const charts = [];
// `values`: what it shows, for those who do not see it; where that is left out,
// what its axes are.
function plot(parent, height, config, values = "") {
  const box = element("div", parent, "", "plot");
  // Paper is small, and holds a whole card on a page.
  const share = document.documentElement.dataset.theme === "paper" ? 0.8 : 1;
  box.style.height = share * height + "px";
  const canvas = element("canvas", box);
  const axes = Object.values(config.options.scales)
      .flatMap(({title}) => title?.text ?? []).reverse();
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", [
    parent.closest(".card")?.querySelector("h3")?.textContent,
    `plot of ${axes.join(", by ")}`, values].filter(Boolean).join(" \u2013 "));
  charts.push(new Chart(canvas, config));
  return charts[charts.length - 1];
}

// Of a plot's rows together, in pixels: each is as high as the longest of their
// names (`inLines`) needs.
function heightOf(names) {
  const lines = Math.max(0, ...names.map((name) => [name].flat().length));
  return names.length * Math.max(34, 2 + 16 * lines);
}

// Returns the place at the top of the page for what it comes to, in sentences.
function verdictBox() {
  const box = document.createElement("div");
  box.className = "verdict";
  document.getElementById("about").after(box);
  return box;
}

function card(parent, heading, note) {
  const made = element("div", parent, "", "card");
  element("h3", made, heading);
  element("p", made, note, "faint");
  return made;
}

// A dashed line at a value of an axis.
const lineAt = (axis, value) => ({
  id: "line",
  beforeDatasetsDraw({ctx, chartArea, scales}) {
    const at = scales[axis].getPixelForValue(value);
    const {left, right, top, bottom} = chartArea;
    if (axis === "x" ? at < left || at > right : at < top || at > bottom) {
      return;
    }
    ctx.save();
    ctx.strokeStyle = colour("faint");
    ctx.setLineDash([5, 4]);
    ctx.beginPath();
    ctx.moveTo(axis === "x" ? at : left, axis === "x" ? top : at);
    ctx.lineTo(axis === "x" ? at : right, axis === "x" ? bottom : at);
    ctx.stroke();
    ctx.restore();
  },
});

// Points with their intervals, a row of `names` each; `unit` says of what they
// are and in what. The colours, of the first side and the other unless `colours`
// are given, are those above and below `even`, grey where the interval holds it;
// null: nothing is even. The axis shows `span` of values at least.
function intervals(parent, names, rows, name, scale, unit, even,
                   span = [even ?? 0, even ?? 0],
                   colours = [sides.red, sides.blue]) {
  // An end that is not known is not drawn.
  const known = rows.map((row) => row[name + "_low"] !== null);
  const lows = rows.map((row) => scale * (row[name + "_low"] ?? row[name]));
  const highs = rows.map((row) => scale * (row[name + "_high"] ?? row[name]));
  const told = rows.map((row) => withInterval(row, name, scale).join(" "));
  plot(parent, 70 + heightOf(names), {
    data: {labels: names, datasets: [
      {type: "line", data: rows.map((row) => scale * row[name]), clip: 8,
       showLine: false, pointRadius: 5, pointHoverRadius: 6,
       pointBackgroundColor: rows.map((row, i) =>
           even === null ? colour("accent") : !known[i] ? sides.draw :
               lows[i] > even ? colours[0] :
               highs[i] < even ? colours[1] : sides.draw), borderWidth: 0},
      {type: "bar", data: lows.map((low, i) => [low, highs[i]]),
       backgroundColor: colour("ink"), barThickness: 3},
    ]},
    options: {
      indexAxis: "y",
      scales: {
        x: {beginAtZero: false, title: {display: true, text: unit},
            // What cannot be negative has no negative axis.
            min: even === null && Math.min(...lows) === 0 ? 0 : undefined,
            suggestedMin: Math.min(span[0], ...lows),
            suggestedMax: Math.max(span[1], ...highs)},
        y: {grid: {display: false},
            ticks: {color: colour("ink"), autoSkip: false}},
      },
      interaction: {axis: "y"},
      plugins: {legend: {display: false}, tooltip: {
        filter: (item) => item.datasetIndex === 0,
        callbacks: {label: (item) => `${unit}: ${told[item.dataIndex]}`}}},
    },
    plugins: even === null ? [] : [lineAt("x", even)],
  }, names.map((each, i) => `${[each].flat().join(" ")}: ${told[i]}`)
      .join("; "));
}

// Horizontal bars, stacked from `datasets`, a row of `names` each. Datasets of
// nothing but zeros are left out.
function stackedBars(parent, names, datasets, unit, max, digits = 2) {
  const shown = datasets.filter((set) => set.data.some((value) => value > 0));
  plot(parent, 84 + heightOf(names), {
    type: "bar",
    data: {labels: names, datasets: shown.map((set) => ({
      ...set, barPercentage: 0.8, borderWidth: 0}))},
    options: {
      indexAxis: "y",
      scales: {
        x: {stacked: true, max, title: {display: true, text: unit}},
        y: {stacked: true, grid: {display: false},
            ticks: {color: colour("ink"), autoSkip: false}},
      },
      interaction: {axis: "y"},
      plugins: {legend: {display: shown.length > 1},
                tooltip: {callbacks: {label: (item) =>
          `${item.dataset.label}: ${fixed(item.raw, digits)} ${unit}`}}},
    },
  }, names.map((each, i) => `${[each].flat().join(" ")}: ` + shown.map((set) =>
      `${set.label} ${fixed(set.data[i], digits)}`).join(", ")).join("; "));
}

// Bars of shares over all values from the least to the greatest counted, whose
// `text` and colour are those of a value; `scale` is "linear" or "logarithmic".
function histogram(parent, counts, games, title, text, colourOf,
                   scale = "linear") {
  const values = Object.keys(counts).map(Number);
  const first = Math.min(...values), last = Math.max(...values);
  const labels = [];
  for (let value = first; value <= last; ++value) labels.push(value);
  return plot(parent, 230, {
    type: "bar",
    data: {labels, datasets: [{
      data: labels.map((value) => 100 * (counts[value] || 0) / games),
      backgroundColor: labels.map(colourOf), borderWidth: 0,
      barPercentage: 1, categoryPercentage: labels.length > 60 ? 1 : 0.88}]},
    options: {
      scales: {
        x: {grid: {display: false}, title: {display: true, text: title},
            ticks: {maxRotation: 0, autoSkipPadding: 12}},
        y: {type: scale, title: {display: true, text: "% of games"},
            // Of a logarithmic scale only the powers of ten.
            afterBuildTicks(axis) {
              if (axis.type !== "logarithmic") return;
              axis.ticks = axis.ticks.filter(
                  ({value}) => Math.abs(Math.log10(value) % 1) < 1e-9);
            },
            ticks: {callback: (value) => Number(value.toPrecision(6))}},
      },
      plugins: {legend: {display: false}, tooltip: {callbacks: {
        title: (items) => text(labels[items[0].dataIndex]),
        label: (item) => {
          const count = counts[labels[item.dataIndex]] || 0;
          return `${integer(count)} games, ${
              Number((100 * count / games).toPrecision(3))} %`;
        }}}},
    },
  });
}

// Lines over an axis of numbers, with bands for their intervals. A line has a
// `label`, a `colour` and `points` {x, y, low, high}; a `level` instead of
// points is dashed, all along, without a band. `options` are `y`, of the axis,
// and whether the plot has a `legend`.
function curves(parent, height, lines, xTitle, yTitle, digits, options = {}) {
  const all = lines.flatMap((line) => line.points || []);
  const ends = [Math.min(...all.map((point) => point.x)),
                Math.max(...all.map((point) => point.x))];
  const datasets = [];
  for (const line of lines) {
    const drawn = {label: line.label, borderColor: line.colour,
                   backgroundColor: line.colour, borderWidth: 2, clip: 8};
    if (!line.points) {
      datasets.push({...drawn, data: ends.map((x) => ({x, y: line.level})),
                     borderDash: [6, 4], pointRadius: 0});
      continue;
    }
    datasets.push({
      ...drawn, data: line.points,
      pointRadius: line.points.length > 40 ? 1.5 : 3.5});
    const band = (key, fill) => ({
      data: line.points.map((point) => ({x: point.x, y: point[key]})), fill,
      borderWidth: 0, pointRadius: 0, pointHitRadius: 0,
      backgroundColor: line.colour + "30", label: "95 %"});
    datasets.push(band("low", "+1"), band("high", false));
  }
  const told = ({dataset, raw}) =>
      `${dataset.label}: ${fixed(raw.y, digits)} ${yTitle}` +
      (raw.low === undefined ? "" :
          ` [${fixed(raw.low, digits)}, ${fixed(raw.high, digits)}]`);
  return plot(parent, height, {
    type: "line",
    data: {datasets},
    options: {
      interaction: {mode: "nearest", axis: "x", intersect: false},
      scales: {
        x: {type: "linear", min: ends[0], max: ends[1],
            title: {display: true, text: xTitle}, ticks: {precision: 0}},
        y: {title: {display: true, text: yTitle}, ...options.y}},
      plugins: {
        legend: {display: options.legend ?? lines.length > 1,
                 labels: {filter: (item) => item.text !== "95 %",
                          usePointStyle: true, pointStyle: "line"}},
        tooltip: {filter: (item) => item.dataset.label !== "95 %",
                  callbacks: {title: (items) => items.length === 0 ? "" :
                                  `${xTitle} ${items[0].parsed.x}`,
                              label: told}}},
    },
  });
}

// The hills, in the order of the texts of positions: rank 7 first.
const hills = [..."7654321"].flatMap(
    (rank) => [..."ABCDEFG"].map((file) => file + rank))
    .filter((hill) => !/[AG][17]/.test(hill));
const hillAt = (hill) => ({x: 70 * (hill.charCodeAt(0) - 64) - 15,
                           y: 70 * (8 - Number(hill[1])) - 38});

// A picture of the board: its edges, what is `below` the hills, and what `drawn`
// returns of each by its name and place.
function boardSvg(role, label, drawn, below = "") {
  const edges = [1, 2, 3, 4, 5, 6, 7].map((i) =>
      `<text class="edge" x="8" y="${70 * (8 - i) - 33}">${i}</text>` +
      `<text class="edge" x="${70 * i - 15}" y="507">${" ABCDEFG"[i]}</text>`);
  return `<svg class="board" viewBox="0 0 510 514" role="${role}" aria-label="${
      label}">${edges.join("")}${below}${
      hills.map((hill) => drawn(hill, hillAt(hill))).join("")}</svg>`;
}

// Paper does not scroll: tables that are too wide get smaller. On the screen
// keys scroll them.
function fitTables(onPaper) {
  for (const table of document.querySelectorAll(".wide > table")) {
    table.style.zoom = 1;
    const share = table.parentElement.clientWidth / table.scrollWidth;
    if (onPaper && share < 1) table.style.zoom = share;
    table.parentElement.tabIndex = 0;
  }
}

// Draws the page with `draw`, and again whenever its colours change: plots are
// pictures, which do not follow them. Paper is white, whatever the screen is.
// Returns what draws it again for any other reason.
function keepDrawn(draw) {
  const again = (theme) => {
    // An emptied page is shorter, which would scroll.
    const top = scrollY;
    document.documentElement.dataset.theme = theme;
    while (charts.length > 0) charts.pop().destroy();
    takeColours();
    draw();
    fitTables(theme === "paper");
    scrollTo(scrollX, top);
  };
  again("");
  matchMedia("(prefers-color-scheme: dark)")
      .addEventListener("change", () => again(""));
  addEventListener("beforeprint", () => again("paper"));
  addEventListener("afterprint", () => again(""));
  return () => again("");
}
