// Requests to a server: the time to the first token with its parts, and the slow ones.

const MEASURES = {
  "first-token": "time to the first token",
  queue: "in the queue",
  host: "on the host",
  device: "on devices",
  token: "from one token to the next",
  total: "from arrival to end",
};

const REQUEST_PARTS = [
  ["queue", (it) => it.queue_ns, "var(--wait)"],
  ["host", (it) => it.host_ns, "var(--call)"],
  ["device", (it) => it.device_ns, "var(--work)"],
];

const maybe = (value, error) => (isKnown(value) ? withError(value, error) : UNKNOWN);

function requests(data) {
  const { requests: found } = data.documents;
  const leftOut = (data.left_out.requests ?? {}).requests;
  const all = found.requests.length + (leftOut ?? 0) + found.left_out;
  const rows = found.requests;
  const untimed = rows.filter((it) => it.untimed > 0).length;
  return [
    text(`${plural(all, "request")}. The time to the first token is the time in the queue, on the host and on devices.`),
    table([
      ["", (it) => MEASURES[it.measure] ?? it.measure],
      ["requests", (it) => count(it.count), "number"],
      ["not known", (it) => (it.unknown ? count(it.unknown) : ""), "number"],
      ["p50", (it) => duration(it.p50_ns), "number"],
      ["p90", (it) => duration(it.p90_ns), "number"],
      ["p99", (it) => duration(it.p99_ns), "number"],
      ["max", (it) => duration(it.max_ns), "number"],
      ["±", (it) => duration(it.error_ns), "number"],
    ], found.measures),
    found.measures.filter((it) => it.p90_ns > 2 * it.p50_ns).map(histogram),
    element("h3", {}, "Requests with the longest time to the first token"),
    table([
      ["request", (it) => code(it.request)],
      ["arrival", (it) => (isKnown(it.arrival_ns) ? since(it.arrival_ns - data.begin) : ""), "number"],
      ["first token", (it) => maybe(it.first_token_ns, it.first_token_error_ns), "number"],
      ["queue", (it) => maybe(it.queue_ns, it.first_token_error_ns), "number"],
      ["host", (it) => maybe(it.host_ns, it.device_error_ns), "number"],
      ["device", (it) => maybe(it.device_ns, it.device_error_ns), "number"],
      ["tokens", (it) => (isKnown(it.tokens) ? count(it.tokens) : ""), "number"],
      ["per token", (it) => maybe(it.token_ns, it.token_error_ns), "number"],
      ["total", (it) => (isKnown(it.total_ns) ? duration(it.total_ns) : ""), "number"],
    ], rows, leftOut),
    rows.length > 0 && isKnown(rows[0].first_token_ns) && parts(REQUEST_PARTS.map(([name, of, color]) => [`${rows[0].request}: ${name}`, of(rows[0]), color]), rows[0].first_token_ns, duration),
    untimed > 0 && text(`${plural(untimed, "request")} of these have tasks without a time, so the first token is not known.`, "dim"),
  ].flat();
}

// Requests by duration, where a median says too little.
function histogram(measure) {
  const most = Math.max(...measure.histogram.map((it) => it.count));
  return element("div", {}, element("h3", {}, `By ${MEASURES[measure.measure] ?? measure.measure}`), table([
    ["from", (it) => duration(it.from_ns), "number"],
    ["until", (it) => duration(it.until_ns), "number"],
    ["requests", (it) => meter(it.count / most, count(it.count))],
  ], measure.histogram));
}
