// Memory in use over time.

function memory(data) {
  const { memory: found, stats } = data.documents;
  if (!found.is_known) return [text("Not known: there were too many allocations at a time to follow.")];
  if (!found.curves.length) return [text("No memory was allocated by AscendCL calls.")];
  const length = stats.end_ns - stats.begin_ns;
  return [
    text("Memory that calls of AscendCL allocated and did not free, as the most in each part of the time. What an allocator of a framework or a pool has reserved counts as one allocation, and the blocks that it gave out have a curve of their own. The reset of a device frees nothing here.", "dim"),
    found.unknown > 0 && text(`${plural(found.unknown, "allocation")} without a known size or device: not in the curves.`, "warn"),
    ...found.curves.map((curve) => memoryPlot(curve, length, data)),
    found.curves_left_out > 0 && text(`${plural(found.curves_left_out, "further curve")} with smaller peaks: not in this file.`, "dim"),
    ...memoryTables(data),
  ];
}

function memoryTables(data) {
  const { memory_usage: usage } = data.documents;
  const left_out = data.left_out.memory_usage ?? {};
  const whose = [
    ["memory of", (it) => `${it.place}${data.several ? ` of ${rankWords(it.rank, it.process)}` : ""}`],
  ];
  const held = [
    ...whose,
    ["bytes", (it) => `${it.unsized_count ? "at least " : ""}${bytes(it.bytes)}`, "number"],
    ["share", (it) => percent(it.share), "number"],
    ["allocations", (it) => count(it.count), "number"],
    ["by", (it) => code(it.function)],
    ["called at", (it) => (isKnown(it.site) ? code(it.site) : "")],
  ];
  const refused = [
    ...whose,
    ["at", (it) => since(it.at_ns - data.begin), "number"],
    ["asked for", (it) => (isKnown(it.size) ? bytes(it.size) : UNKNOWN), "number"],
    ["in use", (it) => bytes(it.in_use_bytes), "number"],
    ["largest gap", (it) => bytes(it.largest_gap_bytes), "number"],
    ...(usage.refused.some((it) => isKnown(it.unused_bytes)) ? [["reserved, unused", (it) => (isKnown(it.unused_bytes) ? bytes(it.unused_bytes) : ""), "number"]] : []),
    ["by", (it) => code(it.function)],
    ["called at", (it) => (isKnown(it.site) ? code(it.site) : "")],
    ["held most", (it) => it.holders.slice(0, 3).map((holder) => `${bytes(holder.bytes)} ${holder.site ?? holder.function}`).join("; ")],
  ];
  const pools = [
    ...whose,
    ["peak reserved", (it) => bytes(it.peak_reserved_bytes), "number"],
    ["peak allocated", (it) => bytes(it.peak_allocated_bytes), "number"],
    ["at", (it) => since(it.peak_allocated_at_ns - data.begin), "number"],
    ["reserved then", (it) => bytes(it.reserved_at_peak_bytes), "number"],
    ["unused then", (it) => bytes(it.unused_at_peak_bytes), "number"],
    ["most unused", (it) => bytes(it.most_unused_bytes), "number"],
  ];
  return [
    usage.pools.length > 0 && element("h3", {}, "Reserved and allocated"),
    usage.pools.length > 0 && table(pools, usage.pools, left_out.pools),
    usage.peak.length > 0 && element("h3", {}, "In use at the peak"),
    usage.peak.length > 0 && table(held, usage.peak, left_out.peak),
    usage.in_use.length > 0 && element("h3", {}, "In use at the end"),
    usage.in_use.length > 0 && table(held, usage.in_use, left_out.in_use),
    usage.refused.length > 0 && element("h3", {}, "Failed allocations"),
    usage.refused.length > 0 && table(refused, usage.refused, (left_out.refused ?? 0) + usage.refused_left_out),
  ];
}

function memoryPlot(curve, length, data) {
  const { svg, across, up } = frame({ from: 0, until: length, most: curve.peak_bytes, height: 130, upWords: bytes, acrossWords: duration, unit: 1024 ** Math.max(0, Math.floor(Math.log2(Math.max(curve.peak_bytes, 1)) / 10)) });
  const width = Math.ceil(length / curve.columns.length);
  const right = (at) => across(Math.min(at * width, length));
  const path = curve.columns.map((value, at) => `${right(at).toFixed(1)},${up(value).toFixed(1)} ${right(at + 1).toFixed(1)},${up(value).toFixed(1)}`);
  svg.append(shape("polygon", { points: `${across(0)},${up(0)} ${path.join(" ")} ${across(length)},${up(0)}`, "fill-opacity": 0.25, color: ["fill", "var(--plot)"] }));
  svg.append(shape("polyline", { points: path.join(" "), fill: "none", color: ["stroke", "var(--plot)"] }));
  nearestTip(svg, curve.columns.map((value, at) => [(right(at) + right(at + 1)) / 2, () => `${bytes(value)} at ${since(at * width)}`]));
  const words = `${curve.place}${data.several ? ` of ${processOf(data, curve.process)}` : ""}: peak ${bytes(curve.peak_bytes)} at ${since(curve.peak_at_ns - data.begin)}, ${bytes(curve.end_bytes)} at the end`;
  return element("div", {}, element("h3", {}, words), svg);
}
