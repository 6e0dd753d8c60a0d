// What ran where, and the most important numbers.

function overview(data) {
  const { info, stats } = data.documents;
  const { session } = info;
  const program = (session.command ?? []).join(" ");
  return [
    element("h1", {}, data.title),
    element("p", { class: "dim" }, [session.start_time && `Recorded ${session.start_time}`, session.host && `on ${session.host}`].filter(Boolean).join(" ")),
    condition(info),
    cards(data),
    element("section", { id: "where" }, element("h2", {}, "What ran where"), facts([
      ["program", program && code(program)],
      ["host", [session.host, session.architecture && `(${session.architecture})`].filter(Boolean).join(" ")],
      ["runtime", session.runtime === "softacl" ? "the software runtime: times of the device are not those of an NPU" : session.runtime],
      ["processes", (info.processes ?? []).map(processWords).join("; ")],
      ["devices", (stats.devices ?? []).map((it) => `device ${it.device}${isKnown(it.card) ? ` (card ${it.card})` : ""} of ${rankWords(it.rank, it.process)}: ${plural(it.streams, "stream")}`).join("; ")],
      ["timing of tasks", session.timing],
      ["calls and tasks", `${plural(info.calls.count, "call")}, ${info.calls.errors ? plural(info.calls.errors, "failed call") : "none failed"}, ${plural(info.tasks.count, "task")}, ${count(info.tasks.timed)} of them timed`],
      ["exit status", isKnown(info.exit_status) ? String(info.exit_status) : UNKNOWN],
      ["recorded by", `ascend-trace ${session.tool_version ?? ""}`],
    ])),
  ];
}

function processWords(process) {
  const rank = isKnown(process.rank) ? `, rank ${process.rank}` : "";
  return `${process.name || "process"} (number ${process.process}, pid ${process.pid}${rank})`;
}

// What makes the numbers of the page incomplete.
function condition(info) {
  const words = [...(info.damage ?? [])];
  if (info.growing) words.push("The recording goes on: this page shows its state when the page was made.");
  else if (!info.ended && words.length === 0) words.push("The recording has no end.");
  if (info.lost.calls + info.lost.others > 0) words.push(`Lost: ${plural(info.lost.calls, "call")} and ${plural(info.lost.others, "other record")}.`);
  return words.map((it) => text(it, "bad"));
}

function card(name, value, ...more) {
  const lines = more.filter(Boolean).map((it) => element("div", { class: "more" }, it));
  return element("div", { class: "card" }, element("div", { class: "name" }, name), element("div", { class: "value" }, value), lines);
}

function cards({ documents: { info, stats, steps } }) {
  const length = isKnown(stats.end_ns) ? stats.end_ns - stats.begin_ns : null;
  const lost = info.lost.calls + info.lost.others;
  const devices = (stats.devices ?? []).slice(0, 4).map((it) => {
    const lived = Math.max(it.end_ns - it.begin_ns, 1);
    const least = it.unestimated > 0 ? "at least " : "";
    return card(
      `device ${it.device} busy${stats.devices.length > 1 ? `, ${rankWords(it.rank, it.process)}` : ""}`,
      least + percent(it.estimated_busy_ns / lived),
      `${withError(it.estimated_busy_ns, it.busy_error_ns)} of ${duration(lived)}`,
    );
  });
  const loops = (steps.processes ?? []).slice(0, 2).map((it) => card(
    `steps${steps.processes.length > 1 ? `, ${rankWords(it.rank, it.process)}` : ""}`,
    count(it.count),
    `median ${duration(it.median_ns)}`,
    `mean ${duration(it.mean_ns)}, standard deviation ${duration(it.spread_ns)}`,
  ));
  return element(
    "div",
    { class: "cards" },
    card("recorded time", duration(length)),
    loops,
    devices,
    card("lost records", count(lost), lost ? "numbers of this page lack them" : "nothing was lost"),
    card(
      "tracer overhead",
      duration(info.cost.host_ns),
      "of the time of threads",
      info.cost.host_ns_per_call && `${duration(info.cost.host_ns_per_call)} for each call`,
      isKnown(info.cost.events_device_share) && `events took ${percent(info.cost.events_device_share)} of the time of streams`,
    ),
  );
}
