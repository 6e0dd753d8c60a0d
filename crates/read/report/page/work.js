// Operations, causes of idle streams, and the critical path.

const KIND_COLORS = {
  computing: "var(--work)", communication: "var(--collective)", copy: "var(--copy)", call: "var(--call)", program: "var(--stall)",
  queue: "var(--range)", launch: "var(--merged)", release: "var(--wait)", return: "var(--warn)", switch: "var(--event)",
};

function operations(data) {
  const { stats } = data.documents;
  if (!stats.operations.length) return [text("No tasks were recorded.")];
  const time = (it) => it.time;
  const or = (ns) => (isKnown(ns) ? duration(ns) : "–");
  return [
    table([
      ["operation", (it) => code(it.name)],
      ["kind", (it) => it.kind],
      ["count", (it) => count(it.count), "number"],
      ["total", (it) => withError(time(it).estimated_total_ns, time(it).total_error_ns), "number"],
      ["share", (it) => (isKnown(it.share) ? meter(it.share, percent(it.share)) : "–"), "number"],
      ["mean", (it) => or(time(it).mean_ns), "number"],
      ["p50", (it) => or(time(it).p50_ns), "number"],
      ["p90", (it) => or(time(it).p90_ns), "number"],
      ["p99", (it) => or(time(it).p99_ns), "number"],
      ["max", (it) => or(time(it).max_ns), "number"],
      ["untimed", (it) => (it.count > time(it).count ? count(it.count - time(it).count) : ""), "number"],
    ], stats.operations, data.left_out.stats?.operations),
    text("The total is an estimate that includes tasks without a time. Percentiles and the maximum are those of tasks with a clear time.", "dim"),
  ];
}

function idle(data) {
  const { stats } = data.documents;
  const ofStreams = stats.stall_causes.filter((it) => it.lane === "stream");
  if (!ofStreams.length) return [text("No stream was idle.")];
  return [
    table([
      ["cause", (it) => it.cause],
      ["share", (it) => meter(it.share, percent(it.share)), "number"],
      ["total", (it) => duration(it.total_ns), "number"],
      ["count", (it) => count(it.count), "number"],
      ["p50", (it) => duration(it.p50_ns), "number"],
      ["p90", (it) => duration(it.p90_ns), "number"],
      ["max", (it) => duration(it.max_ns), "number"],
    ], ofStreams),
    text("docs/STALLS.md (ascend-trace help stalls) describes each cause, and what to do. Times of several streams are added up.", "dim"),
    element("h3", {}, "Streams"),
    streamTable(stats.streams.filter((it) => it.tasks > 0), data),
    element("h3", {}, "Longest stalls"),
    stallTable(stats.worst_stalls, data),
  ];
}

function streamTable(rows, data) {
  return table([
    ["process", (it) => (data.several ? rankWords(it.rank, it.process) : "")],
    ["device", (it) => String(it.device), "number"],
    ["stream", (it) => `${it.stream_id}${it.is_default ? " (default)" : ""}`],
    ["tasks", (it) => count(it.tasks), "number"],
    ["untimed", (it) => (it.untimed ? count(it.untimed) : ""), "number"],
    ["busy", (it) => `${it.unestimated ? "at least " : ""}${withError(it.estimated_busy_ns, it.busy_error_ns)}`, "number"],
    ["of its time", (it) => meter(it.busy_share, percent(it.busy_share)), "number"],
    ["waiting", (it) => duration(it.waiting_ns), "number"],
    ["mostly idle because of", (it) => it.causes.slice(0, 3).map((cause) => `${cause.cause} ${duration(cause.total_ns)}`).join(", ")],
  ], rows, data.left_out.stats?.streams);
}

function stallTable(rows, data) {
  const place = (it) => (isKnown(it.tid) ? `thread ${it.tid}` : `device ${it.device} stream ${it.stream_id}`);
  return table([
    ["duration", (it) => withError(it.length_ns, it.error_ns ?? 0), "number"],
    ["begin", (it) => since(it.begin_ns - data.begin), "number"],
    ["cause", (it) => it.cause],
    ["where", place],
    ["what", (it) => code(it.name)],
    ["because of", stallReason],
    ["call", (it) => site(it.site)],
    ["culprit", (it) => site(it.culprit_site)],
  ], rows, data.left_out.stats?.worst_stalls);
}

function stallReason(it) {
  const stream = isKnown(it.culprit_stream_id) && `device ${it.culprit_device} stream ${it.culprit_stream_id}`;
  const meanwhile = it.meanwhile?.[0];
  const words = [
    isKnown(it.event) && `event ${it.event}`,
    stream,
    it.culprit_task,
    it.culprit_call !== it.name && it.culprit_call,
    it.root && `root ${it.root}`,
    it.late?.range && `in range ${it.late.range}`,
    meanwhile && `meanwhile ${meanwhile.name} for ${duration(meanwhile.total_ns)}`,
    it.why,
  ];
  return words.filter(Boolean).join(", ");
}

function critical(data) {
  const { critical: path } = data.documents;
  if (!path.kinds.length) return [text("Nothing was recorded.")];
  const length = path.end_ns - path.begin_ns;
  const columns = (names) => [
    ["share", (it) => meter(it.share, percent(it.share)), "number"],
    ["time", (it) => withError(it.total_ns, it.error_ns), "number"],
    ["pieces", (it) => count(it.count), "number"],
    ["kind", (it) => it.kind],
    ...(names ? [["name", (it) => code(it.name ?? "")]] : []),
  ];
  return [
    text(`The end of the recording waited for this chain of tasks, calls and pauses: ${duration(length)}.${path.ties ? ` At ${plural(path.ties, "piece")}, the error bars allow another way.` : ""}`),
    parts(path.kinds.map((it) => [it.kind, it.total_ns, KIND_COLORS[it.kind] ?? "var(--dim)"]), length, duration),
    element("h3", {}, "By name"),
    table(columns(true), path.names, data.left_out.critical?.names),
  ];
}
