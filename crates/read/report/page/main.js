// Puts the page together. A part with an error does not stop the others; the number of errors is in the document.

const page = document.getElementById("page");
let errors = 0;

function failed(where, error) {
  errors += 1;
  page.append(text(`The part "${where}" of this page could not be shown: ${error}. This is a fault of the tool: report it.`, "bad"));
}

addEventListener("error", (event) => failed("page", event.message));

function part(id, title, make) {
  try {
    const box = element("section", { id }, element("h2", {}, title), make());
    page.append(box);
    return [id, title];
  } catch (error) {
    failed(title, error);
    return null;
  }
}

// The timeline measures its canvas, so it begins when that is in the page.
function lanes(data) {
  if (!data.documents.timeline.lanes.length) return null;
  const view = new TimelineView(data.documents.timeline);
  const made = part("timeline", "Timeline", () => view.elements());
  try {
    view.begin();
  } catch (error) {
    failed("Timeline", error);
  }
  return made;
}

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  data.begin = data.documents.stats.begin_ns ?? 0;
  data.several = (data.documents.info.processes ?? []).length > 1;
  page.append(...overview(data).flat());
  const nav = element("nav", { "aria-label": "parts" });
  page.insertBefore(nav, document.getElementById("where"));
  const made = [
    lanes(data),
    data.documents.diff && part("differences", "Differences", () => differences(data)),
    part("findings", "Findings", () => findings(data)),
    part("steps", "Steps", () => steps(data)),
    part("operations", "Operations", () => operations(data)),
    part("idle", "Why streams were idle", () => idle(data)),
    part("critical", "Critical path", () => critical(data)),
    part("what-if", "What would save time", () => whatIf(data)),
    part("memory", "Memory", () => memory(data)),
    data.documents.requests.requests.length > 0 && part("requests", "Requests", () => requests(data)),
    data.documents.communication.groups.length > 0 && part("communication", "Communication", () => communication(data)),
  ];
  nav.append(...made.filter(Boolean).map(([id, title]) => element("a", { href: `#${id}` }, title)));
  page.append(element("footer", {}, "Made by ascend-trace report. All numbers are those of its commands stats, steps, requests, check, critical, what-if and info."));
}

try {
  start();
} catch (error) {
  failed("page", error);
}
document.documentElement.dataset.errors = String(errors);
document.documentElement.dataset.ready = "true";
// What the page has loaded, next to its own file.
document.documentElement.dataset.requests = String(performance.getEntriesByType("resource").length);
