// Collectives, and which rank waited for which.

const rankWords = (rank, process) => (isKnown(rank) ? `rank ${rank}` : `process ${process}`);

function communication(data) {
  const { communication: found } = data.documents;
  return [
    table([
      ["rank", (it) => rankWords(it.rank, it.process)],
      ["collective", (it) => code(it.name)],
      ["count", (it) => count(it.count), "number"],
      ["timed", (it) => count(it.timed), "number"],
      ["total", (it) => (it.timed ? withError(it.total_ns, it.error_ns) : UNKNOWN), "number"],
      ["data", (it) => `${it.unsized_count ? "at least " : ""}${bytes(it.bytes)}`, "number"],
    ], found.collectives, data.left_out.communication?.collectives),
    text("The total is the sum of measured durations, and contains the time in which a collective waited for other ranks.", "dim"),
    found.waits.length > 0 && element("h3", {}, "Who waited for whom"),
    found.waits.length > 0 && waitMatrix(found.waits),
  ];
}

// A row waits for the column, which came last.
function waitMatrix(waits) {
  const names = new Map();
  for (const it of waits) {
    names.set(it.process, it.rank);
    names.set(it.late_process, it.late_rank);
  }
  const order = [...names].sort((a, b) => (a[1] ?? a[0]) - (b[1] ?? b[0])).slice(0, 32);
  const most = Math.max(...waits.map((it) => it.total_ns));
  const cell = (own, late) => {
    const wait = waits.find((it) => it.process === own && it.late_process === late);
    if (!wait) return element("td", { class: "number" }, own === late ? "" : "–");
    const strength = `${Math.round((60 * wait.total_ns) / most)}%`;
    return element("td", { class: "number", title: `${count(wait.count)} times`, style: { background: `color-mix(in srgb, var(--stall) ${strength}, transparent)` } }, duration(wait.total_ns));
  };
  const head = element("tr", {}, element("th", {}, "waited ↓ for →"), order.map(([process, rank]) => element("th", { class: "number" }, rankWords(rank, process))));
  const rows = order.map(([process, rank]) => element("tr", {}, element("th", {}, rankWords(rank, process)), order.map(([late]) => cell(process, late))));
  return element("div", { class: "wide" }, element("table", { class: "matrix" }, element("thead", {}, head), element("tbody", {}, rows)));
}
