// Changes that would save time, as `what-if` predicts them.

function whatIf(data) {
  const report = data.documents["what-if"];
  if (!report.predictions.length) return [text("No change that the tool tries makes the program shorter.")];
  const error = (words) => `± ${isKnown(words) ? words : UNKNOWN}`;
  const head = `${duration(report.makespan_ns)} from the first call or task to the last. Simulated without changes, this is off by ${duration(report.unchanged_error_ns)}, and by ${duration(report.usual_error_ns)} with usual latencies.`;
  return [
    text(head),
    report.untimed > 0 && text(`${plural(report.untimed, "task")} without a time: the simulation takes the usual time.`, "dim"),
    table([
      ["change", (it) => it.changes.join(", ")],
      ["less", (it) => percent(it.saved), "number"],
      ["±", (it) => (isKnown(it.error) ? percent(it.error) : UNKNOWN), "number"],
      ["time saved", (it) => `${duration(it.saved_ns)} ${error(isKnown(it.error_ns) ? duration(it.error_ns) : null)}`, "number"],
      ["tasks and calls changed", (it) => count(it.changed), "number"],
      ["called at", (it) => (it.at ? code(it.at.call_site) : "")],
      ["if", (it) => `${it.holds ?? ""}${it.holds && it.is_checked ? " (checked)" : ""}`],
    ], report.predictions, data.left_out["what-if"]?.predictions),
    text("Each change alone. An error that is larger than the saving means that the change may save nothing.", "dim"),
  ];
}
