// Plots, as SVG.

const SVG = "http://www.w3.org/2000/svg";

function shape(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "color") made.style.setProperty(value[0], value[1]);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

// Round values from 0 to at least `most`.
function ticks(most, wanted) {
  const rough = Math.max(most, 1e-9) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((it) => it * power).find((it) => it >= rough);
  const found = [];
  for (let at = 0; at <= most + step * 0.001; at += step) found.push(at);
  return found;
}

// The frame of a plot: axes with words, and the functions that place values. Marks of the axis that goes up are round in its
// unit.
function frame({ from, until, most, height, upWords, acrossWords, unit = 1 }) {
  const [width, left, right, top, bottom] = [1000, 74, 14, 10, 24];
  const across = (value) => left + ((value - from) / Math.max(until - from, 1)) * (width - left - right);
  const up = (value) => height - bottom - (value / Math.max(most, 1e-9)) * (height - top - bottom);
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });
  for (const value of ticks(most / unit, 4).map((it) => it * unit)) {
    svg.append(shape("line", { class: "axis", x1: left, x2: width - right, y1: up(value), y2: up(value) }));
    svg.append(shape("text", { x: left - 6, y: up(value) + 4, "text-anchor": "end" }, upWords(value)));
  }
  for (const offset of ticks(until - from, 6)) {
    const at = across(from + offset);
    const anchor = at > width - 60 ? "end" : "middle";
    svg.append(shape("text", { x: at, y: height - 6, "text-anchor": anchor }, acrossWords(offset)));
  }
  return { svg, across, up };
}

// Shows a text for the nearest of some points: [x in the plot, function that makes the words].
function nearestTip(svg, points) {
  svg.addEventListener("mousemove", (event) => {
    const at = ((event.clientX - svg.getBoundingClientRect().left) / svg.getBoundingClientRect().width) * 1000;
    const distance = (point) => Math.abs(point[0] - at);
    const nearest = points.reduce((best, point) => (distance(point) < distance(best) ? point : best), points[0]);
    if (nearest && distance(nearest) < 30) tip.show(nearest[1](), event);
    else tip.hide();
  });
  svg.addEventListener("mouseleave", tip.hide);
}
