// Mistakes and costs that `check` found.

function findings(data) {
  const { check } = data.documents;
  const begin = data.begin;
  if (!check.findings.length) return [text("Nothing was found.")];
  const list = check.findings.map((it) => element(
    "div",
    { class: `finding ${it.severity}` },
    element("p", {}, element("strong", {}, it.severity), ": ", it.what, " ", element("span", { class: "dim" }, `[${it.check}]`)),
    text(it.advice),
    text(
      `${it.count > 1 ? `${count(it.count)} times, ` : ""}${duration(it.total_ns)} in all, ${it.count > 1 ? "first " : ""}at ${since(it.begin_ns - begin)} in thread ${it.tid} of ${processOf(data, it.process)}`,
      "dim",
    ),
    element("p", {}, site(it.site)),
    it.other && element("p", {}, site(it.other)),
  ));
  const more = data.left_out.check?.findings ?? 0;
  return [...list, more > 0 && text(`${plural(more, "further finding")}: not in this file. ascend-trace check prints them.`, "dim")];
}
