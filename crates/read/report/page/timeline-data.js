// Unpacks the timeline: numbers of variable size in base64, as timeline/packed.rs writes them.

class Reader {
  constructor(packed) {
    const raw = atob(packed);
    this.bytes = new Uint8Array(raw.length);
    for (let at = 0; at < raw.length; at += 1) this.bytes[at] = raw.charCodeAt(at);
    this.at = 0;
  }

  get isDone() {
    return this.at >= this.bytes.length;
  }

  next() {
    const { bytes } = this;
    let byte = bytes[this.at++];
    if (byte < 128) return byte;
    let [value, scale] = [byte & 127, 128];
    do {
      byte = bytes[this.at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte >= 128);
    return value;
  }

  // A number of either sign has the sign in its last bit.
  signed() {
    const value = this.next();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }
}

function slicesOf(packed, size) {
  const found = { size, begin: new Float64Array(size), length: new Float64Array(size), name: new Uint32Array(size), kind: new Uint8Array(size), row: new Uint8Array(size), error: new Float64Array(size), reach: new Float64Array(size) };
  const from = new Reader(packed);
  let [before, reach] = [0, -Infinity];
  for (let at = 0; at < size; at += 1) {
    before += from.signed();
    found.begin[at] = before;
    found.length[at] = from.next();
    found.name[at] = from.next();
    const kind = from.next();
    found.kind[at] = Math.floor(kind / 8);
    found.row[at] = kind % 8;
    found.error[at] = from.next();
    reach = Math.max(reach, before + found.length[at]);
    // How far this one or one before it reaches.
    found.reach[at] = reach;
  }
  return found;
}

// The finest columns, and joined ones: each level has half as many.
function levelsOf(packed, columns) {
  const finest = { busy: new Float32Array(columns), count: new Float64Array(columns), name: new Uint32Array(columns) };
  const from = new Reader(packed);
  for (let at = 0; !from.isDone;) {
    at += from.next();
    for (let rest = from.next(); rest > 0; rest -= 1, at += 1) {
      finest.busy[at] = from.next() / 255;
      finest.count[at] = from.next();
      finest.name[at] = from.next();
    }
  }
  const levels = [finest];
  while (levels[levels.length - 1].busy.length > 64) levels.push(joined(levels[levels.length - 1]));
  return levels;
}

function joined(fine) {
  const size = Math.ceil(fine.busy.length / 2);
  const coarse = { busy: new Float32Array(size), count: new Float64Array(size), name: new Uint32Array(size) };
  for (let at = 0; at < size; at += 1) {
    const [one, other] = [2 * at, Math.min(2 * at + 1, fine.busy.length - 1)];
    coarse.busy[at] = (fine.busy[one] + fine.busy[other]) / 2;
    coarse.count[at] = fine.count[one] + (other === one ? 0 : fine.count[other]);
    coarse.name[at] = fine.name[fine.busy[one] >= fine.busy[other] ? one : other];
  }
  return coarse;
}

function stallsOf(packed) {
  const from = new Reader(packed);
  const found = [];
  while (!from.isDone) {
    found.push({ begin: from.signed(), length: from.next(), cause: from.next(), name: from.next(), error: from.next() });
  }
  return found;
}

function arrowsOf(packed) {
  const from = new Reader(packed);
  const found = [];
  while (!from.isDone) {
    const [lane, leave, to, later, kind] = [from.next(), from.signed(), from.next(), from.signed(), from.next()];
    found.push({ from: lane, leave, to, arrive: leave + later, kind });
  }
  return found;
}

// A property that is made at its first use: most lanes of a large recording are out of sight.
function later(of, name, make) {
  Object.defineProperty(of, name, {
    configurable: true,
    get() {
      const value = make();
      Object.defineProperty(of, name, { value });
      return value;
    },
  });
}

function unpackedLane(lane, columns) {
  const { slices, merged, stalls, ...rest } = lane;
  const made = { ...rest, hasStalls: stalls.length > 0, isWhole: lane.kept === lane.count };
  later(made, "slices", () => slicesOf(slices, lane.kept));
  later(made, "levels", () => levelsOf(merged, columns));
  later(made, "stalls", () => stallsOf(stalls));
  return made;
}

function unpacked(timeline) {
  const { lanes, arrows, ...rest } = timeline;
  const length = Math.max(timeline.end_ns - timeline.begin_ns, 1);
  // As the writer rounds it.
  const width = Math.max(Math.ceil(length / timeline.columns), 1);
  const made = { ...rest, lanes: lanes.map((lane) => unpackedLane(lane, timeline.columns)), length, width };
  later(made, "arrows", () => arrowsOf(arrows));
  return made;
}

// The first of the slices that reaches beyond a time, or the first that begins after it.
function firstAt(list, size, time) {
  let [low, high] = [0, size];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
