// Memory in use over time.

function memory(data) {
  const { memory: found, stats } = data.documents;
  if (!found.is_known) return [text("Not known: there were too many allocations at a time to follow.")];
  if (!found.curves.length) return [text("No memory was allocated by AscendCL calls.")];
  const length = stats.end_ns - stats.begin_ns;
  return [
    text("Memory that calls of AscendCL allocated and did not free, as the most in each part of the time. A pool of a framework counts as one allocation. The reset of a device frees nothing here.", "dim"),
    found.unknown > 0 && text(`${plural(found.unknown, "allocation")} without a known size or device: not in the curves.`, "warn"),
    ...found.curves.map((curve) => memoryPlot(curve, length, data)),
    found.curves_left_out > 0 && text(`${plural(found.curves_left_out, "further curve")} with smaller peaks: not in this file.`, "dim"),
  ];
}

function memoryPlot(curve, length, data) {
  const where = isKnown(curve.device) ? `device ${curve.device}` : "host";
  const { svg, across, up } = frame({ from: 0, until: length, most: curve.peak_bytes, height: 130, upWords: bytes, acrossWords: duration, unit: 1024 ** Math.max(0, Math.floor(Math.log2(Math.max(curve.peak_bytes, 1)) / 10)) });
  const width = Math.ceil(length / curve.columns.length);
  const right = (at) => across(Math.min(at * width, length));
  const path = curve.columns.map((value, at) => `${right(at).toFixed(1)},${up(value).toFixed(1)} ${right(at + 1).toFixed(1)},${up(value).toFixed(1)}`);
  svg.append(shape("polygon", { points: `${across(0)},${up(0)} ${path.join(" ")} ${across(length)},${up(0)}`, "fill-opacity": 0.25, color: ["fill", "var(--plot)"] }));
  svg.append(shape("polyline", { points: path.join(" "), fill: "none", color: ["stroke", "var(--plot)"] }));
  nearestTip(svg, curve.columns.map((value, at) => [(right(at) + right(at + 1)) / 2, `${bytes(value)} at ${since(at * width)}`]));
  const words = `${where}${data.several ? ` of process ${curve.process}` : ""}: peak ${bytes(curve.peak_bytes)} at ${since(curve.peak_at_ns - data.begin)}, ${bytes(curve.end_bytes)} at the end`;
  return element("div", {}, element("h3", {}, words), svg);
}
