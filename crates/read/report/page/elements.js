// Elements of the page. Texts of a recording become text nodes only: none of them is parsed as markup.

const ROWS_AT_FIRST = 12;

function element(name, properties, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (key === "class") made.className = value;
    else if (key === "on") for (const [event, act] of Object.entries(value)) made.addEventListener(event, act);
    else if (key === "style") for (const [part, text] of Object.entries(value)) made.style.setProperty(part, text);
    else made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((it) => isKnown(it) && it !== false));
  return made;
}

const rankWords = (rank, process) => (isKnown(rank) ? `rank ${rank}` : `process ${process}`);

// The process with this number, by its rank if it has one.
function processOf(data, number) {
  const own = (data.documents.info.processes ?? []).find((it) => it.process === number);
  return rankWords(own?.rank, number);
}

const text = (words, kind) => element("p", kind ? { class: kind } : {}, words);

// A table. A column is [title, cell of a row, "number" or "text"]; a column without any content is left out.
function table(columns, rows, leftOut) {
  const cells = rows.map((row) => columns.map((column) => column[1](row)));
  const shown = columns.map((_, at) => cells.some((row) => isKnown(row[at]) && row[at] !== ""));
  const visible = (list) => list.filter((_, at) => shown[at]);
  const kind = (column) => ({ class: column[2] ?? "text" });
  const head = visible(columns).map((column) => element("th", { ...kind(column), scope: "col" }, column[0]));
  const lines = cells.map((row, place) => element(
    "tr",
    place < ROWS_AT_FIRST ? {} : { class: "more-rows" },
    visible(row.map((cell, at) => element("td", kind(columns[at]), cell ?? ""))),
  ));
  const made = element("table", {}, element("thead", {}, element("tr", {}, head)), element("tbody", {}, lines));
  const box = element("div", {}, element("div", { class: "wide" }, made));
  if (rows.length > ROWS_AT_FIRST) box.append(moreButton(made, rows.length));
  if (leftOut > 0) box.append(text(`${plural(leftOut, "further row")}: not in this file. The command prints them.`, "dim"));
  return box;
}

function moreButton(of, all) {
  const label = (open) => (open ? "Show fewer rows" : `Show all ${count(all)} rows`);
  const button = element("button", { type: "button" }, label(false));
  button.addEventListener("click", () => {
    button.textContent = label(of.classList.toggle("open"));
  });
  return button;
}

// Names and values, as a list.
function facts(pairs) {
  const known = pairs.filter(([, value]) => isKnown(value) && value !== "");
  return element("dl", { class: "facts" }, known.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

function meter(share, words) {
  const width = `${Math.min(100, Math.max(0, (share ?? 0) * 100))}%`;
  return element("span", {}, element("span", { class: "meter" }, element("i", { style: { width } })), words);
}

// Parts of a whole, as one bar with a legend. A part is [name, size, colour].
function parts(list, whole, words) {
  const seen = list.filter((part) => part[1] > 0);
  const width = (part) => `${(100 * part[1]) / Math.max(whole, 1)}%`;
  const bars = seen.map((part) => element("i", { style: { width: width(part), background: part[2] }, title: `${part[0]}: ${words(part[1])}` }));
  const keys = seen.map((part) => element("span", {}, element("b", { style: { background: part[2] } }), `${part[0]} ${words(part[1])}`));
  return element("div", {}, element("div", { class: "parts" }, bars), element("div", { class: "keys" }, keys));
}

// Where a call was made.
function site(of) {
  if (!of) return "";
  const where = isKnown(of.call_site) ? ` at ${of.call_site}` : "";
  return element("span", { class: "code", title: (of.stack ?? []).join("\n") }, `${of.name} #${of.call}${where}`);
}

const code = (words) => element("span", { class: "code" }, words);

// The tip at the pointer.
const tip = {
  show(words, event) {
    const box = document.getElementById("tip");
    box.textContent = words;
    box.hidden = false;
    const { width, height } = box.getBoundingClientRect();
    const left = event.clientX + 14 + width > innerWidth ? event.clientX - width - 10 : event.clientX + 14;
    const top = event.clientY + 14 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 14;
    box.style.left = `${Math.max(2, left)}px`;
    box.style.top = `${Math.max(2, top)}px`;
  },
  hide() {
    document.getElementById("tip").hidden = true;
  },
};
