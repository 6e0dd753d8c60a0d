// Steps: their durations, and the parts of the slow ones.

const STEP_PARTS = [
  ["computing", (it) => it.compute_ns, "var(--work)"],
  ["communication alone", (it) => it.exposed_communication_ns, "var(--collective)"],
  ["copies alone", (it) => it.exposed_copy_ns, "var(--copy)"],
  ["loading data", (it) => it.loading_ns, "var(--wait)"],
  ["program", (it) => it.python_ns, "var(--stall)"],
  ["planning", (it) => it.planning_ns, "var(--call)"],
  ["queue", (it) => it.queue_ns, "var(--range)"],
  ["launch", (it) => it.launch_ns, "var(--merged)"],
];

const ORIGINS = { framework: "reported by the framework", named: "from names of ranges", pattern: "from the pattern", graph: "found from launches of a graph" };

function steps(data) {
  const { steps: report, step_series: series } = data.documents;
  if (!report.processes.length) {
    return [text("No steps: no range has the name of a step, and no work repeats. `report --by PATTERN` selects ranges or marks.")];
  }
  const several = report.processes.length > 1;
  return report.processes.flatMap((sums) => {
    const isOwn = (it) => it.process === sums.process && it.loop_number === sums.loop_number;
    const own = series.series.find(isOwn);
    return [
      several && element("h3", {}, `Process ${sums.process}${isKnown(sums.rank) ? `, rank ${sums.rank}` : ""}, loop ${sums.loop_number}`),
      text(stepWords(sums)),
      own && stepPlot(own.points, sums, data.begin),
      report.comparisons.filter(isOwn).map((it) => comparison(it)),
      slowSteps(report.steps.filter(isOwn), data),
    ];
  }).flat();
}

function stepWords(sums) {
  const clock = sums.clock === "device" ? ", on the device" : "";
  const left = sums.left_out ? ` ${plural(sums.left_out, "further step")} without a time on the device.` : "";
  return `${plural(sums.count, "step")} of thread ${sums.tid}, ${ORIGINS[sums.origin] ?? "found from work that repeats"}${clock}: median ${duration(sums.median_ns)}, mean ${duration(sums.mean_ns)}, standard deviation ${duration(sums.spread_ns)}, ${duration(sums.min_ns)} to ${duration(sums.max_ns)}.${left}`;
}

// A line from the shortest to the longest step of a point, and a dot at the median.
function stepPlot(points, sums, begin) {
  const last = points[points.length - 1];
  const { svg, across, up } = frame({
    from: points[0].begin_ns - begin,
    until: Math.max(last.begin_ns - begin, points[0].begin_ns - begin + 1),
    most: sums.max_ns,
    height: 200,
    upWords: duration,
    acrossWords: (offset) => duration(offset + points[0].begin_ns - begin),
  });
  const isSlow = (point) => point.max_ns > 1.5 * sums.median_ns;
  const radius = points.length > 300 ? 1.6 : 2.4;
  // A path for many marks: a shape for each would take longer than the rest of the page.
  const path = (list, mark) => list.map((point) => `M${across(point.begin_ns - begin).toFixed(1)} ${mark(point)}`).join("");
  for (const [list, color] of [[points.filter((it) => !isSlow(it)), "var(--plot)"], [points.filter(isSlow), "var(--plot-slow)"]]) {
    const lines = path(list.filter((it) => it.count > 1), (it) => `${up(it.min_ns).toFixed(1)}V${up(it.max_ns).toFixed(1)}`);
    const dots = path(list, (it) => `${up(it.median_ns).toFixed(1)}h0`);
    svg.append(shape("path", { d: lines, "stroke-opacity": 0.5, color: ["stroke", color] }));
    svg.append(shape("path", { d: dots, "stroke-width": 2 * radius, "stroke-linecap": "round", color: ["stroke", color] }));
  }
  const median = up(sums.median_ns);
  svg.append(shape("line", { x1: across(points[0].begin_ns - begin), x2: 986, y1: median, y2: median, "stroke-dasharray": "4 4", color: ["stroke", "var(--dim)"] }));
  nearestTip(svg, points.map((point) => [across(point.begin_ns - begin), () => stepTip(point)]));
  const several = last.count > 1 || points[0].count > 1;
  const words = `Duration of steps by their begin; the dashed line is the median; red is more than 1.5 times the median.${several ? ` Each line is ${count(points[0].count)} steps, its dot is their median.` : ""}`;
  return element("div", {}, svg, text(words, "dim"));
}

function stepTip(point) {
  const verdict = point.verdict ? `\n${point.verdict}` : "";
  if (point.count === 1) return `${point.slowest}: ${duration(point.max_ns)}${verdict}\nerror of its parts: ${duration(point.error_ns)}`;
  return `${count(point.count)} steps: ${duration(point.min_ns)} to ${duration(point.max_ns)}, median ${duration(point.median_ns)}\nslowest: ${point.slowest}${verdict}`;
}

function stepParts(step) {
  return parts(STEP_PARTS.map(([name, of, color]) => [name, of(step), color]), step.length_ns, duration);
}

function comparison({ slow, median, more, aligned }) {
  const rows = more.filter((it) => Math.abs(it.slow_ns - it.median_ns) > 0);
  const signed = (ns) => (ns < 0 ? duration(ns) : `+${duration(ns)}`);
  return element(
    "div",
    {},
    element("h3", {}, `Why ${slow.name} was slow`),
    text(`${slow.name}: ${duration(slow.length_ns)}${slow.verdict ? `, ${slow.verdict}${slow.is_close ? ", close" : ""}` : ""}. Its parts may be off by ${duration(slow.error_ns)}.`),
    stepParts(slow),
    text(`The median step, ${median.name}: ${duration(median.length_ns)}. Its parts may be off by ${duration(median.error_ns)}. ${plural(aligned, "operation")} are in both.`),
    stepParts(median),
    table([
      ["more", (it) => signed(it.slow_ns - it.median_ns), "number"],
      ["slow step", (it) => duration(it.slow_ns), "number"],
      ["median step", (it) => duration(it.median_ns), "number"],
      ["kind", (it) => it.kind],
      ["what", (it) => it.name],
      ["largest part", (it) => largestPart(it, signed)],
    ], rows),
  );
}

function largestPart(it, signed) {
  if (it.at) return `${it.kind === "free" ? "before " : ""}${it.at} (operation ${count(it.place)}): ${signed(it.there_ns)}`;
  return it.there_ns > 0 ? `after the last operation: ${signed(it.there_ns)}` : "";
}

function slowSteps(rows, data) {
  const longest = [...rows].sort((a, b) => b.length_ns - a.length_ns);
  return element("div", {}, element("h3", {}, "Longest steps"), table([
    ["step", (it) => it.name],
    ["begin", (it) => since(it.begin_ns - data.begin), "number"],
    ["duration", (it) => duration(it.length_ns), "number"],
    ["computing", (it) => duration(it.compute_ns), "number"],
    ["communication", (it) => (it.communication_ns ? duration(it.communication_ns) : ""), "number"],
    ["copies", (it) => (it.copy_ns ? duration(it.copy_ns) : ""), "number"],
    ["idle", (it) => duration(it.idle_ns), "number"],
    ["±", (it) => duration(it.error_ns), "number"],
    ["verdict", (it) => `${it.verdict ?? "too few times"}${it.is_close ? ", close" : ""}`],
  ], longest));
}
