// The timeline: keys, mouse, search and details. Keys are those of ascend-trace view.

const TIMELINE_KEYS = [
  ["w, s", "zoom in and out at the middle"],
  ["a, d", "go earlier and later"],
  ["0", "show all of the recording"],
  ["j, k", "go down and up, if there are more lanes than room"],
  ["/", "search for a name; Enter goes to the next match"],
  ["n, N", "go to the next and the previous match"],
  ["e", "show arrows of dependencies or not"],
  ["wheel", "zoom at the pointer, after a click on the timeline, or with Ctrl"],
  ["drag", "move the timeline"],
  ["click", "show the details of a slice; a second one zooms to it"],
  ["Esc", "take the choice and the search away"],
  ["?", "show these keys or not"],
];
const SHORTEST_VIEW = 200;

class TimelineView {
  constructor(timeline) {
    this.timeline = unpacked(timeline);
    this.layout = placed(this.timeline.lanes);
    this.view = { from: 0, until: this.timeline.length, scroll: 0, chosen: null, matching: null, arrows: true };
    const height = `${Math.min(this.layout.height, 640)}px`;
    this.canvas = element("canvas", { id: "lanes", tabindex: "0", role: "img", "aria-label": "Timeline of streams and threads. Press ? for its keys.", style: { height } });
    this.details = element("p", { class: "details", "aria-live": "polite" }, "Click on a slice for its details.");
    this.search = element("input", { type: "search", placeholder: "name", "aria-label": "search for a name" });
    this.matches = element("span", { class: "dim" });
    this.help = element("dl", { class: "facts help" }, TIMELINE_KEYS.flatMap(([key, words]) => [element("dt", {}, key), element("dd", {}, words)]));
    this.help.hidden = true;
    this.listen();
  }

  elements() {
    const button = (words, label, act) => {
      const made = element("button", { type: "button", "aria-label": label }, words);
      made.addEventListener("click", act);
      return made;
    };
    const bar = element("div", { class: "bar screen" },
      button("+", "zoom in", () => this.zoom(0.5)), button("−", "zoom out", () => this.zoom(2)),
      button("◂", "earlier", () => this.pan(-0.3)), button("▸", "later", () => this.pan(0.3)),
      button("all", "show all", () => this.show(0, this.timeline.length)),
      this.search, this.matches, button("? keys", "show the keys", () => this.toggleHelp()));
    return [bar, this.help, this.canvas, this.legend(), this.details, ...this.limits()];
  }

  legend() {
    const key = (words, color) => element("span", {}, element("b", { style: { background: `var(--${color})` } }), words);
    return element("div", { class: "keys" }, key("kernels (by name)", "work"), key("copies", "copy"), key("collectives", "collective"), key("waits", "wait"),
      key("calls", "call"), key("ranges", "range"), key("idle because of the host", "stall"), key("idle for other causes", "event"), key("failed calls", "bad"));
  }

  // What the page does not have.
  limits() {
    const { complete_from_ns: shortest, stalls_complete_from_ns: stalls, lanes_left_out: lanes, arrows_left_out: arrows } = this.timeline;
    return [
      shortest > 0 && `Slices shorter than ${duration(shortest)} are not all in this file: columns show how busy a lane was in their place. ascend-trace view shows all of them.`,
      stalls > 0 && `Stalls shorter than ${duration(stalls)} are not all in this file.`,
      lanes > 0 && `${plural(lanes, "further lane")}: not in this file.`,
      arrows > 0 && `${plural(arrows, "further arrow")}: not in this file.`,
    ].filter(Boolean).map((words) => text(words, "dim"));
  }

  listen() {
    const { canvas } = this;
    this.search.addEventListener("input", () => this.find(this.search.value));
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.next(event.shiftKey ? -1 : 1);
      if (event.key === "Escape") this.clear();
      if (["Enter", "Escape"].includes(event.key)) event.preventDefault();
    });
    addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointerleave", () => tip.hide());
  }

  // After it is in the page.
  begin() {
    this.painter = new Painter(this.canvas, this.timeline, this.layout);
    const again = () => {
      this.painter.readColors();
      this.draw();
    };
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    matchMedia("print").addEventListener("change", again);
    addEventListener("resize", () => this.draw());
    this.painter.draw(this.view);
  }

  draw() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.painter.draw(this.view);
    });
  }

  show(from, until) {
    const all = this.timeline.length;
    const length = Math.min(Math.max(until - from, SHORTEST_VIEW), all);
    const middle = (from + until) / 2;
    const begin = Math.min(Math.max(middle - length / 2, 0), all - length);
    Object.assign(this.view, { from: begin, until: begin + length });
    // Which part is shown, for tests.
    Object.assign(this.canvas.dataset, { from: String(Math.round(begin)), until: String(Math.round(begin + length)) });
    this.draw();
  }

  zoom(by, at) {
    const { from, until } = this.view;
    const fixed = at ?? (from + until) / 2;
    const length = Math.min(Math.max((until - from) * by, SHORTEST_VIEW), this.timeline.length);
    const begin = fixed - ((fixed - from) / (until - from)) * length;
    this.show(begin, begin + length);
  }

  pan(by) {
    const { from, until } = this.view;
    const all = this.timeline.length;
    const way = Math.min(Math.max((until - from) * by, -from), all - until);
    this.show(from + way, until + way);
  }

  scroll(by) {
    const most = Math.max(0, this.layout.height - this.canvas.clientHeight);
    this.view.scroll = Math.min(Math.max(this.view.scroll + by, 0), most);
    this.draw();
  }

  toggleHelp() {
    this.help.hidden = !this.help.hidden;
  }

  key(event) {
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName ?? "");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const isHere = document.activeElement === this.canvas;
    const acts = {
      w: () => this.zoom(0.5), s: () => this.zoom(2), a: () => this.pan(-0.3), d: () => this.pan(0.3),
      0: () => this.show(0, this.timeline.length), j: () => this.scroll(60), k: () => this.scroll(-60),
      n: () => this.next(1), N: () => this.next(-1), "?": () => this.toggleHelp(), Escape: () => this.clear(),
      e: () => this.toggleArrows(), "/": () => this.search.focus(),
    };
    const here = { ArrowLeft: acts.a, ArrowRight: acts.d, ArrowUp: acts.k, ArrowDown: acts.j, "+": acts.w, "-": acts.s };
    const act = acts[event.key] ?? (isHere ? here[event.key] : undefined);
    if (!act) return;
    event.preventDefault();
    act();
  }

  toggleArrows() {
    this.view.arrows = !this.view.arrows;
    this.draw();
  }

  wheel(event) {
    // Else the page scrolls.
    if (!event.ctrlKey && document.activeElement !== this.canvas) return;
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(Math.sign(event.deltaX || event.deltaY) * 0.1);
    else this.zoom(event.deltaY < 0 ? 0.8 : 1.25, this.painter.timeAt(event.offsetX));
  }

  press(event) {
    this.drag = { x: event.offsetX, y: event.offsetY, from: this.view.from, scroll: this.view.scroll, hasMoved: false };
    // Events of scripts have no pointer to keep.
    if (event.isTrusted) this.canvas.setPointerCapture(event.pointerId);
  }

  move(event) {
    const { drag } = this;
    if (!drag) {
      const words = this.wordsAt(event.offsetX, event.offsetY);
      if (words) tip.show(words, event);
      else tip.hide();
      return;
    }
    if (Math.abs(event.offsetX - drag.x) + Math.abs(event.offsetY - drag.y) > 3) drag.hasMoved = true;
    if (!drag.hasMoved) return;
    tip.hide();
    const length = this.view.until - this.view.from;
    const from = Math.min(Math.max(drag.from - (event.offsetX - drag.x) * this.painter.perPixel, 0), this.timeline.length - length);
    this.show(from, from + length);
    this.scroll(drag.scroll - (event.offsetY - drag.y) - this.view.scroll);
  }

  release(event) {
    const hasMoved = this.drag?.hasMoved;
    this.drag = null;
    if (!hasMoved) this.click(event.offsetX, event.offsetY);
  }

  click(x, y) {
    const found = this.sliceAt(x, y);
    const { chosen } = this.view;
    if (found && chosen && chosen.lane === found.lane && chosen.at === found.at) this.zoomTo(found);
    else this.choose(found);
  }

  zoomTo({ lane, at }) {
    const { begin, length } = lane.slices;
    const margin = Math.max(length[at] * 0.6, SHORTEST_VIEW);
    this.show(begin[at] - margin, begin[at] + length[at] + margin);
  }

  choose(found) {
    this.view.chosen = found;
    this.details.textContent = found ? this.sliceWords(found).replaceAll("\n", " · ") : "Click on a slice for its details.";
    this.draw();
  }

  laneAt(y) {
    const at = y + this.view.scroll;
    const place = this.layout.places.findIndex((it) => at >= it.top && at < it.bottom);
    return place < 0 || y < RULER ? null : { lane: this.timeline.lanes[place], place: this.layout.places[place], inside: at - this.layout.places[place].top };
  }

  // The shortest slice at a place, with two pixels of room.
  sliceAt(x, y) {
    const hit = this.laneAt(y);
    if (!hit || x < this.painter.labels) return null;
    const { slices } = hit.lane;
    const [row, time, near] = [Math.floor(hit.inside / ROW), this.painter.timeAt(x), 2 * this.painter.perPixel];
    let best = null;
    const last = firstAt(slices.begin, slices.size, time + near);
    for (let at = firstAt(slices.reach, slices.size, time - near); at < last; at += 1) {
      const isHere = slices.row[at] === row && slices.begin[at] + slices.length[at] >= time - near;
      if (isHere && (best === null || slices.length[at] < slices.length[best])) best = at;
    }
    return best === null ? null : { lane: hit.lane, at: best };
  }

  wordsAt(x, y) {
    const hit = this.laneAt(y);
    if (!hit) return null;
    const { lane, inside } = hit;
    if (x < this.painter.labels) return `${lane.group}\n${lane.label}\n${plural(lane.count, "slice")}${lane.untimed ? `, ${plural(lane.untimed, "task")} without a time` : ""}`;
    const time = this.painter.timeAt(x);
    if (inside >= lane.rows * ROW) return this.stallWords(lane.stalls.find((it) => it.begin <= time && time < it.begin + it.length));
    const found = this.sliceAt(x, y);
    return found ? this.sliceWords(found) : this.columnWords(lane, time, inside);
  }

  sliceWords({ lane, at }) {
    const { slices } = lane;
    const kind = this.timeline.kinds[slices.kind[at]];
    const error = slices.error[at] ? `\nbegin and end ± ${duration(slices.error[at])}` : "";
    return `${this.timeline.names[slices.name[at]] || "a name that is not in this file"}\n${kind} on ${lane.label}: ${duration(slices.length[at])}, at ${since(slices.begin[at])}${error}`;
  }

  stallWords(stall) {
    if (!stall) return null;
    const name = this.timeline.names[stall.name];
    return `held up: ${this.timeline.causes[stall.cause]}\n${withError(stall.length, stall.error)}, at ${since(stall.begin)}${name ? `\nbefore ${name}` : ""}`;
  }

  columnWords(lane, time, inside) {
    const at = Math.floor(time / this.timeline.width);
    const { busy, count: begun } = lane.levels[0];
    if (inside >= ROW || !(busy[at] > 0) || lane.isWhole) return null;
    return `${lane.label}, ${duration(this.timeline.width)} at ${since(at * this.timeline.width)}\n${percent(busy[at])} busy, ${plural(begun[at], "slice")} begin${begun[at] === 1 ? "s" : ""} in it`;
  }

  find(words) {
    const wanted = words.trim().toLowerCase();
    const names = this.timeline.names.map((name, at) => [name.toLowerCase(), at]);
    this.view.matching = wanted ? new Set(names.filter(([name]) => name.includes(wanted)).map((it) => it[1])) : null;
    this.found = wanted ? this.matchingSlices() : [];
    this.matches.textContent = wanted ? `${plural(this.found.length, "match").replace(/matchs$/, "matches")} in this file` : "";
    this.draw();
  }

  matchingSlices() {
    const { matching } = this.view;
    const found = this.timeline.lanes.flatMap((lane) => Array.from(lane.slices.name, (name, at) => [name, at]).filter(([name]) => matching.has(name)).map(([, at]) => ({ lane, at })));
    return found.sort((a, b) => a.lane.slices.begin[a.at] - b.lane.slices.begin[b.at]);
  }

  // Goes to the match after the chosen slice, or after the middle.
  next(way) {
    if (!this.found?.length) return;
    const { chosen, from, until } = this.view;
    const begin = (it) => it.lane.slices.begin[it.at];
    const own = chosen && this.found.findIndex((it) => it.lane === chosen.lane && it.at === chosen.at);
    const after = this.found.findIndex((it) => begin(it) >= (from + until) / 2);
    const place = isKnown(own) && own >= 0 ? own + way : Math.max(after, 0);
    const found = this.found[(place + this.found.length) % this.found.length];
    this.choose(found);
    const length = Math.max(Math.min(until - from, found.lane.slices.length[found.at] * 20), SHORTEST_VIEW);
    const middle = begin(found) + found.lane.slices.length[found.at] / 2;
    this.show(middle - length / 2, middle + length / 2);
    this.reveal(found.lane);
  }

  reveal(lane) {
    const place = this.layout.places[this.timeline.lanes.indexOf(lane)];
    const height = this.canvas.clientHeight;
    if (place.top - this.view.scroll < RULER) this.scroll(place.top - GROUP - RULER - this.view.scroll);
    else if (place.bottom - this.view.scroll > height) this.scroll(place.bottom - height + GAP - this.view.scroll);
  }

  clear() {
    this.search.value = "";
    this.find("");
    this.search.blur();
    this.choose(null);
  }
}
