// Draws the timeline on a canvas.

const LABELS = 190;
const RULER = 22;
const GROUP = 20;
const ROW = 20;
const STRIP = 7;
const GAP = 6;
// Slices of a lane that are drawn one by one, without merged columns.
const MOST_SINGLE = 3000;
const MOST_ARROWS_SHOWN = 80;
const PALETTE = { light: ["#3f7fbf", "#5a6fc0", "#2f8fa8", "#4a8f5c", "#7a6fb8", "#3f9c8c", "#6f86a8", "#4f74d0"], dark: ["#5d9bdb", "#7f93e6", "#4fb3cc", "#6cb580", "#a093e0", "#5cc0ae", "#8fa6c8", "#7396ee"] };

// Where each lane is, from the top.
function placed(lanes) {
  let [top, group] = [RULER, null];
  const places = lanes.map((lane) => {
    const header = lane.group !== group;
    group = lane.group;
    if (header) top += GROUP;
    const strip = lane.hasStalls ? STRIP : 0;
    const place = { top, header, strip, bottom: top + lane.rows * ROW + strip };
    top = place.bottom + GAP;
    return place;
  });
  return { places, height: top + 4 };
}

function colorsOf(canvas) {
  const style = getComputedStyle(canvas);
  const color = (name) => style.getPropertyValue(`--${name}`).trim();
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches && !matchMedia("print").matches;
  const names = ["card", "text", "dim", "line", "faint", "accent", "bad", "work", "copy", "collective", "wait", "call", "range", "event", "stall", "merged"];
  return { ...Object.fromEntries(names.map((name) => [name, color(name)])), palette: PALETTE[isDark ? "dark" : "light"] };
}

function sliceColor(colors, kind, name) {
  switch (kind) {
    case "memcpy": case "memset": return colors.copy;
    case "collective": return colors.collective;
    case "wait": return colors.wait;
    case "record": case "notify": case "value": return colors.event;
    case "call": return colors.call;
    case "failed call": return colors.bad;
    case "range": return colors.range;
    default: return colors.palette[hashOf(name) % colors.palette.length];
  }
}

// The same name has the same colour in every report.
function hashOf(name) {
  let hash = 7;
  for (let at = 0; at < name.length; at += 1) hash = (hash * 31 + name.charCodeAt(at)) % 65521;
  return hash;
}

// Causes of the program's threads, of other streams, and the rest.
function causeColor(colors, cause) {
  if (cause.startsWith("host-late") || cause === "host-blocked" || cause === "queue-full") return colors.stall;
  if (cause.endsWith("-wait") || cause === "collective-peer" || cause === "callback") return colors.wait;
  return colors.event;
}

class Painter {
  constructor(canvas, timeline, layout) {
    Object.assign(this, { canvas, timeline, layout, context: canvas.getContext("2d") });
    this.nameColors = new Map();
    this.readColors();
  }

  readColors() {
    this.colors = colorsOf(this.canvas);
    this.nameColors.clear();
  }

  colorOf(kind, name) {
    const key = kind * 1e6 + name;
    if (!this.nameColors.has(key)) this.nameColors.set(key, sliceColor(this.colors, this.timeline.kinds[kind], this.timeline.names[name]));
    return this.nameColors.get(key);
  }

  // view: from and until in nanoseconds, scroll in pixels, chosen slice, matching names.
  draw(view) {
    const { canvas, context, colors } = this;
    const scale = devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    this.labels = Math.min(LABELS, width * 0.28);
    this.view = view;
    this.perPixel = (view.until - view.from) / Math.max(width - this.labels, 1);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.fillStyle = colors.card;
    context.fillRect(0, 0, width, height);
    context.font = "11px system-ui, 'Liberation Sans', Arial, sans-serif";
    context.textBaseline = "middle";
    context.save();
    context.beginPath();
    context.rect(this.labels, RULER, width - this.labels, height - RULER);
    context.clip();
    this.eachLane(height, (lane, place, top) => this.lane(lane, place, top, width));
    if (view.arrows) this.arrows();
    context.restore();
    this.eachLane(height, (lane, place, top) => this.label(lane, place, top, width));
    this.ruler(width);
  }

  eachLane(height, act) {
    this.timeline.lanes.forEach((lane, at) => {
      const place = this.layout.places[at];
      const top = place.top - this.view.scroll;
      if (top < height && top + place.bottom - place.top > RULER - GROUP) act(lane, place, top, at);
    });
  }

  across(time) {
    return this.labels + (time - this.view.from) / this.perPixel;
  }

  timeAt(x) {
    return this.view.from + (x - this.labels) * this.perPixel;
  }

  lane(lane, place, top, width) {
    const { context, colors, view } = this;
    context.fillStyle = colors.faint;
    context.fillRect(this.labels, top, width - this.labels, lane.rows * ROW - 1);
    const { slices } = lane;
    const first = firstAt(slices.reach, slices.size, view.from);
    const last = firstAt(slices.begin, slices.size, view.until);
    const isSingle = lane.isWhole && last - first <= MOST_SINGLE;
    if (!isSingle) this.columns(lane, top);
    this.slices(lane, top, [first, last], isSingle);
    for (const stall of lane.stalls) this.stall(stall, top + lane.rows * ROW, width);
  }

  // Merged columns, at the level whose columns are about a pixel wide: as high as the lane was busy.
  columns(lane, top) {
    const { context, colors, timeline, view } = this;
    let level = 0;
    while (level < lane.levels.length - 1 && timeline.width * 2 ** level < this.perPixel) level += 1;
    const width = timeline.width * 2 ** level;
    const { busy, name } = lane.levels[level];
    const first = Math.max(0, Math.floor(view.from / width));
    const last = Math.min(busy.length - 1, Math.floor(view.until / width));
    for (let at = first; at <= last; at += 1) {
      if (busy[at] === 0) continue;
      const high = Math.max(1, busy[at] * (ROW - 2));
      context.fillStyle = this.mergedColor(lane, name[at]);
      const left = this.across(at * width);
      context.fillRect(left, top + ROW - 1 - high, Math.max(this.across((at + 1) * width) - left, 1), high);
    }
    if (view.matching) this.matchingColumns({ name, busy, width, first, last }, top, colors);
  }

  matchingColumns({ name, busy, width, first, last }, top, colors) {
    this.context.fillStyle = colors.accent;
    for (let at = first; at <= last; at += 1) {
      if (busy[at] > 0 && this.view.matching.has(name[at])) this.context.fillRect(this.across(at * width), top - 2, 2, 2);
    }
  }

  mergedColor(lane, name) {
    if (lane.is === "thread") return this.colors.call;
    if (lane.is === "ranges") return this.colors.range;
    return name === 0 ? this.colors.merged : this.colors.palette[hashOf(this.timeline.names[name]) % this.colors.palette.length];
  }

  slices(lane, top, [first, last], isSingle) {
    const { slices } = lane;
    for (let at = first; at < last; at += 1) {
      const wide = slices.length[at] / this.perPixel;
      // Merged columns have the short ones of the first row.
      if (!isSingle && wide < 1.5 && (slices.row[at] === 0 || wide < 0.3)) continue;
      this.slice(lane, at, top + slices.row[at] * ROW, wide);
    }
  }

  slice(lane, at, top, wide) {
    const { context, colors, view, timeline } = this;
    const { slices } = lane;
    const left = this.across(slices.begin[at]);
    const [from, until] = [Math.max(left, this.labels - 2), Math.min(left + Math.max(wide, 1), this.canvas.clientWidth + 2)];
    const isOther = view.matching && !view.matching.has(slices.name[at]);
    context.globalAlpha = isOther ? 0.25 : 1;
    context.fillStyle = this.colorOf(slices.kind[at], slices.name[at]);
    context.fillRect(from, top, Math.max(until - from - (wide > 4 ? 0.6 : 0), 0.8), ROW - 2);
    if (until - from > 34) this.inside(timeline.names[slices.name[at]], from, until, top, slices.kind[at]);
    context.globalAlpha = 1;
    const { chosen } = view;
    if (chosen && chosen.lane === lane && chosen.at === at) {
      context.strokeStyle = colors.text;
      context.lineWidth = 1.5;
      context.strokeRect(from, top - 0.5, Math.max(until - from, 3), ROW - 1);
    }
  }

  inside(name, from, until, top, kind) {
    const { context, colors } = this;
    context.fillStyle = this.timeline.kinds[kind] === "range" ? colors.text : colors.card;
    const room = until - from - 8;
    let words = name.replace(/^aclrt|^aclnn|^acl/, "") || name;
    const fit = Math.floor(room / 6.1);
    if (words.length > fit) words = fit > 3 ? `${words.slice(0, fit - 1)}…` : "";
    context.fillText(words, from + 4, top + ROW / 2 - 0.5);
  }

  stall(stall, top, width) {
    const [left, right] = [this.across(stall.begin), this.across(stall.begin + stall.length)];
    if (right < this.labels || left > width || right - left < 0.4) return;
    this.context.fillStyle = causeColor(this.colors, this.timeline.causes[stall.cause]);
    this.context.fillRect(left, top + 1, Math.max(right - left, 1), STRIP - 2);
  }

  arrows() {
    const { timeline, view } = this;
    const isSeen = (arrow) => arrow.from !== arrow.to && Math.max(arrow.leave, arrow.arrive) >= view.from && Math.min(arrow.leave, arrow.arrive) <= view.until;
    const seen = timeline.arrows.filter(isSeen);
    // With more there is nothing to see.
    if (seen.length <= MOST_ARROWS_SHOWN) seen.forEach((arrow) => this.arrow(arrow));
  }

  arrow({ from, leave, to, arrive }) {
    const { context, colors } = this;
    const middle = (lane) => this.layout.places[lane].top - this.view.scroll + ROW / 2;
    const [x, y, toX, toY] = [this.across(leave), middle(from), this.across(arrive), middle(to)];
    context.strokeStyle = colors.text;
    context.globalAlpha = 0.45;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x, y);
    context.bezierCurveTo(x + 14, y, toX - 14, toY, toX, toY);
    context.stroke();
    context.fillStyle = colors.text;
    context.beginPath();
    context.moveTo(toX, toY);
    context.lineTo(toX - 5, toY - 2.5);
    context.lineTo(toX - 5, toY + 2.5);
    context.fill();
    context.globalAlpha = 1;
  }

  label(lane, place, top, width) {
    const { context, colors } = this;
    context.save();
    context.beginPath();
    context.rect(0, RULER, width, this.canvas.clientHeight);
    context.clip();
    if (place.header) {
      context.fillStyle = colors.dim;
      context.fillText(lane.group, 2, top - GROUP / 2 + 1);
    }
    context.beginPath();
    context.rect(0, top, this.labels - 6, ROW * lane.rows + STRIP);
    context.clip();
    context.fillStyle = colors.text;
    context.fillText(lane.label, 10, top + ROW / 2 - 1);
    context.restore();
  }

  ruler(width) {
    const { context, colors, view } = this;
    context.fillStyle = colors.card;
    context.fillRect(0, 0, width, RULER);
    context.fillStyle = colors.dim;
    context.fillText(`${duration(view.until - view.from)} of ${duration(this.timeline.length)}`, 2, RULER / 2);
    const wanted = Math.max(2, Math.floor((width - this.labels) / 130));
    const step = ticks(view.until - view.from, wanted)[1] ?? 1;
    for (let time = Math.ceil(view.from / step) * step; time <= view.until; time += step) {
      const x = this.across(time);
      if (x > width - 60) break;
      context.fillRect(x, RULER - 5, 1, 5);
      context.fillText(rulerWords(time, step), x + 3, RULER / 2 - 1);
    }
  }
}

// A time with as many decimals as the distance of two marks needs.
function rulerWords(time, step) {
  const [name, size] = unitFor(Math.max(time, step));
  const decimals = Math.min(9, Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9)));
  return `${(time / size).toFixed(decimals)} ${name}`;
}
