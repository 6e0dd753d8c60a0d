// What changed from the first recording to the second one.

function differences(data) {
  const { diff } = data.documents;
  const words = diff.by_steps ? "" : "No steps in both recordings: single operations, calls and stalls are compared.";
  return [
    text(`From ${diff.a_name} (A) to ${diff.b_name} (B), which this page is about. ${words}`),
    !diff.changed && text(`No significant change, by ${plural(diff.tests, "test")}.`),
    ...diff.pairs.map((pair) => differencesOf(pair, diff.pairs.length > 1)),
  ];
}

function differencesOf(pair, several) {
  const step = pair.rows.find((row) => row.kind === "step");
  const isSeen = (row) => row.kind !== "step" && row.verdict !== "same" && !row.within_error;
  const changes = pair.rows.filter(isSeen);
  const others = pair.rows.filter((row) => row.kind !== "step" && row.within_error);
  return element(
    "div",
    {},
    several && element("h3", {}, `Process ${pair.a_process} of A, process ${pair.b_process} of B`),
    isKnown(pair.a_process) && text(`Compared are ${plural(pair.a_steps, "step")} of A and ${plural(pair.b_steps, "step")} of B.`),
    step && text(stepChange(step)),
    pair.edits.length > 0 && table([
      ["sequence of operations", (it) => it.change],
      ["operation", (it) => code(it.name)],
      ["was", (it) => it.was ?? ""],
      ["times", (it) => count(it.count), "number"],
      ["first at operation", (it) => count(it.place), "number"],
    ], pair.edits),
    changes.length > 0 && table(changeColumns(), changes),
    others.length > 0 && text(`${plural(others.length, "further row")} changed by no more than the error of measuring.`, "dim"),
  );
}

function stepChange(step) {
  const medians = `${duration(step.a.typical_ns)} before, ${duration(step.b.typical_ns)} now`;
  if (step.verdict === "same") return `Step: ${medians}; the difference is not significant.`;
  return `Step: ${signedPercent(step.change)} ${step.verdict}, ${medians}${chance(step.p_corrected)}. Measuring alone may change it by ${duration(step.open_ns)}.`;
}

const signedPercent = (share) => (isKnown(share) ? `${share > 0 ? "+" : ""}${(share * 100).toFixed(1)} %` : "–");

function chance(p) {
  if (!isKnown(p)) return "";
  return p < 0.0001 ? ", p < 0.0001" : `, p = ${p.toFixed(4)}`;
}

function changeColumns() {
  const share = (ns, row) => (isKnown(ns) && row.a.typical_ns > 0 ? signedPercent(ns / row.a.typical_ns) : "–");
  const time = (ns) => (isKnown(ns) ? duration(ns) : "–");
  const counts = (row) => (row.a.count === row.b.count ? countOf(row.a.count) : `${countOf(row.a.count)} / ${countOf(row.b.count)}`);
  const countOf = (value) => (Number.isInteger(value) ? count(value) : value.toFixed(2));
  return [
    ["adds", (row) => (row.impact_ns > 0 ? `+${duration(row.impact_ns)}` : duration(row.impact_ns)), "number"],
    ["", (row) => row.verdict],
    ["of", (row) => row.kind],
    ["what", (row) => code(row.name)],
    ["change", (row) => signedPercent(row.change), "number"],
    ["from", (row) => share(row.low_ns, row), "number"],
    ["to", (row) => share(row.high_ns, row), "number"],
    ["error", (row) => (row.open_ns > 0 ? `± ${share(row.open_ns, row).replace("+", "")}` : ""), "number"],
    ["A", (row) => time(row.a.typical_ns), "number"],
    ["B", (row) => time(row.b.typical_ns), "number"],
    ["count", counts, "number"],
    ["p", (row) => chance(row.p_corrected).replace(", p ", ""), "number"],
  ];
}
