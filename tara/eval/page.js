// What all pages of reports share: colours, numbers, elements, plots.

const colour = (name) =>
    getComputedStyle(document.documentElement).getPropertyValue("--" + name)
        .trim();
let sides = {};

// Takes the colours of the page as it is now: light, dark or printed.
function takeColours() {
  sides = {red: colour("red"), draw: colour("draw"), blue: colour("blue")};
  Chart.defaults.color = colour("faint");
  Chart.defaults.borderColor = colour("line");
}

const words = (name) =>
    (name[0].toUpperCase() + name.slice(1)).replaceAll("_", " ");
const integer = (n) => n.toLocaleString("en");
const fixed = (n, digits) => n === null ? "\u2013" :
    n.toLocaleString("en", {minimumFractionDigits: digits,
                            maximumFractionDigits: digits});

// As many digits as tell the ends of an interval apart, four at most.
function interval(row, name, scale = 1) {
  const mean = scale * row[name];
  const low = row[name + "_low"], high = row[name + "_high"];
  if (low === null || high === null) return fixed(mean, 2);
  const width = scale * (high - low);
  const digits = width > 0 ?
      Math.min(4, Math.max(1, 1 - Math.floor(Math.log10(width)))) : 2;
  return `${fixed(mean, digits)}<br><small>[${fixed(scale * low, digits)}, ` +
      `${fixed(scale * high, digits)}]</small>`;
}

function element(tag, parent, html = "", className = "") {
  const made = document.createElement(tag);
  made.innerHTML = html;
  if (className) made.className = className;
  parent.append(made);
  return made;
}

Chart.defaults.animation = false;
Chart.defaults.maintainAspectRatio = false;
Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
Chart.defaults.plugins.legend.position = "bottom";
Chart.defaults.plugins.legend.labels.boxWidth = 14;
takeColours();

const charts = [];
function plot(parent, height, config) {
  const box = element("div", parent, "", "plot");
  box.style.height = height + "px";
  charts.push(new Chart(element("canvas", box), config));
  return charts[charts.length - 1];
}

// Draws the page with `draw`, and again whenever its colours change: plots are
// pictures, which do not follow them. Paper is white, whatever the screen is.
function keepDrawn(draw) {
  const again = (theme) => {
    document.documentElement.dataset.theme = theme;
    while (charts.length > 0) charts.pop().destroy();
    takeColours();
    draw();
  };
  again("");
  matchMedia("(prefers-color-scheme: dark)")
      .addEventListener("change", () => again(""));
  addEventListener("beforeprint", () => again("paper"));
  addEventListener("afterprint", () => again(""));
}
