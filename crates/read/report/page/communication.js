// Collectives, and which rank waited for which.

// A bandwidth, and by how much it may be off; with waits for other ranks in its time, it is only the least.
function bandwidth(it, key) {
  const value = it[`${key}_bandwidth`];
  if (!isKnown(value)) return UNKNOWN;
  return `${it.bandwidth_is_least ? "≥ " : ""}${rate(value, it[`${key}_bandwidth_error`])}`;
}

const size = (it) => (isKnown(it.bytes) ? `${it.without_size ? "≥ " : ""}${bytes(it.bytes)}` : UNKNOWN);

// The columns of the times that groups, ranks and pairs of ranks have.
const PART_TIMES = [
  ["calls", (it) => count(it.calls), "number"],
  ["size", size, "number"],
  ["time", (it) => withError(it.time_ns, it.time_error_ns), "number"],
  ["wait for last", (it) => (isKnown(it.wait_ns) ? withError(it.wait_ns, it.wait_error_ns) : UNKNOWN), "number"],
  ["transfer", (it) => (isKnown(it.transfer_ns) ? withError(it.transfer_ns, it.transfer_error_ns) : UNKNOWN), "number"],
];
const BANDWIDTHS = [
  ["algorithm", (it) => bandwidth(it, "algorithm"), "number"],
  ["bus", (it) => bandwidth(it, "bus"), "number"],
];

function communication(data) {
  const { communication: found, rank_waits: waits } = data.documents;
  const leftOut = data.left_out.communication ?? {};
  const group = ["group", (it) => count(it.group), "number"];
  const collectives = [
    group,
    ["collective", (it) => code(it.name)],
    ...PART_TIMES,
    ["last rank", (it) => (isKnown(it.last_rank) ? `${it.last_rank}: ${count(it.last_count)} of ${count(it.with_last)}` : "")],
    ["late rank", (it) => (isKnown(it.late_rank) ? count(it.late_rank) : "")],
    ...BANDWIDTHS,
  ];
  const ranks = [
    group,
    ["rank", (it) => rankWords(it.rank, it.process)],
    ...PART_TIMES,
    ["waited for", (it) => duration(it.last_wait_ns), "number"],
  ];
  const links = [
    group,
    ["from", (it) => count(it.from_rank), "number"],
    ["to", (it) => count(it.to_rank), "number"],
    ...PART_TIMES,
    ...BANDWIDTHS,
  ];
  const waiting = (it) => (isKnown(it.waiting_ns) ? `${it.split < it.calls ? "≥ " : ""}${withError(it.waiting_ns, it.waiting_error_ns)}` : UNKNOWN);
  const stages = [
    group,
    ["stage", (it) => count(it.stage), "number"],
    ["rank", (it) => rankWords(it.rank, it.process)],
    ["calls", (it) => count(it.calls), "number"],
    ["first to last task", (it) => duration(it.active_ns), "number"],
    ["waits in messages", waiting, "number"],
    ["waits %", (it) => (isKnown(it.waiting_share) ? (100 * it.waiting_share).toFixed(1) : UNKNOWN), "number"],
  ];
  const unknown = found.groups.filter((it) => isKnown(it.unknown));
  return [
    table(collectives, found.collectives, leftOut.collectives),
    element("h3", {}, "Ranks"),
    table(ranks, found.ranks, leftOut.ranks),
    found.links.length > 0 && element("h3", {}, "Messages between ranks"),
    found.links.length > 0 && table(links, found.links, leftOut.links),
    found.stages.length > 0 && element("h3", {}, "Pipeline stages"),
    found.stages.length > 0 && table(stages, found.stages, leftOut.stages),
    ...unknown.map((it) => text(`Waits of group ${it.group} are not known: ${it.unknown}.`, "dim")),
    text("The algorithm bandwidth is size / transfer. Where the wait for the last rank is not known, it is size / time, the least that it can be (≥).", "dim"),
    waits.length > 0 && element("h3", {}, "Who waited for whom"),
    waits.length > 0 && waitMatrix(waits),
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
