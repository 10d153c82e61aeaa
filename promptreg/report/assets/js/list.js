// The list of cases, worst first. Long lists are windowed: only the rows in sight are elements.

const ROW_HEIGHT = 66;
const WINDOW_ABOVE = 300;
const OVERSCAN = 8;
let shown = report.cases;
let searching = 0;

function railSkeleton() {
  return el("nav", { id: "rail", "aria-label": t("list.title") },
    el("div", { class: "finder" },
      el("label", { class: "unseen", for: "search" }, t("search.label")),
      el("input", { id: "search", type: "search", autocomplete: "off", spellcheck: "false", placeholder: t("search.placeholder"),
        value: state.query, oninput: searchTyped, oncompositionend: searchTyped }),
      el("div", { id: "facets", class: "facets", role: "group", "aria-label": t("facets.label") }),
      el("p", { id: "found", class: "found", role: "status" })),
    el("div", { id: "rows-box", class: "rows-box" }, el("ol", { id: "case-rows", class: "case-rows" })));
}

// A half-composed Chinese word is not a query yet.
function searchTyped(event) {
  if (event.isComposing) return;
  state.query = event.target.value;
  filterChanged();
}

function filterChanged() {
  updateAddress();
  applyFilter();
}

async function applyFilter() {
  searching += 1;
  const mine = searching;
  const terms = parseQuery(state.query);
  const inVerdicts = (entry) => state.verdicts.size === 0 || state.verdicts.has(entry.verdict);
  let found = report.cases.filter((entry) => matches(entry, terms));
  show(found, inVerdicts, null);
  if (!needsDetails(terms)) return;
  await new Promise((resolve) => setTimeout(resolve, 150));
  // The list alone has answered; now the texts, chunk by chunk, so that the page stays alive.
  const places = Map.groupBy ? Map.groupBy(report.cases, (entry) => entry.chunk) : groupByChunk();
  const hits = new Set(report.cases.filter((entry) => entry.chunk === undefined && matches(entry, terms)));
  let done = 0;
  for (const [chunk, entries] of places) {
    if (mine !== searching) return;
    if (chunk !== undefined) {
      try {
        const details = await chunkCases(chunk);
        entries.filter((entry) => matches(entry, terms, details[entry.position])).forEach((entry) => hits.add(entry));
      } catch {
        entries.filter((entry) => matches(entry, terms)).forEach((entry) => hits.add(entry));
      }
    }
    done += 1;
    if (places.size > 4 && mine === searching) foundLine(t("search.progress", { done, total: places.size }));
  }
  if (mine !== searching) return;
  found = report.cases.filter((entry) => hits.has(entry));
  show(found, inVerdicts, null);
}

function groupByChunk() {
  const places = new Map();
  for (const entry of report.cases) places.set(entry.chunk, [...(places.get(entry.chunk) || []), entry]);
  return places;
}

function show(found, inVerdicts) {
  paintFacets(counts(found));
  shown = found.filter(inVerdicts);
  foundLine(shown.length === report.cases.length ? t("search.all", { count: number(shown.length) })
    : withCause(t("search.found", { count: number(shown.length), total: number(report.cases.length) })));
  paintCauses();
  paintRows();
}

function foundLine(text) {
  const line = byId("found");
  if (line.textContent !== text) line.textContent = text;
}

// Counts follow the query; a chosen verdict narrows the list, not the counts beside the others.
function paintFacets(byVerdict) {
  const all = counts(report.cases);
  const focused = document.activeElement && document.activeElement.dataset.verdict;
  replace(byId("facets"), VERDICTS.filter((verdict) => all[verdict]).map((verdict) => button(null,
    { class: `facet v-${verdict}`, "data-verdict": verdict, "aria-pressed": state.verdicts.has(verdict) ? "true" : "false",
      title: t(`explain.${verdict}`), onclick: () => toggleVerdict(verdict) },
    verdictMark(verdict), known("verdict", verdict), el("span", { class: "n" }, number(byVerdict[verdict] || 0)))));
  if (focused) byId("facets").querySelector(`[data-verdict="${focused}"]`)?.focus();
}

function toggleVerdict(verdict) {
  if (!state.verdicts.delete(verdict)) state.verdicts.add(verdict);
  filterChanged();
}

function row(entry, index) {
  const openHere = state.open && state.open.entry === entry;
  const item = el("li", { "aria-setsize": shown.length, "aria-posinset": index + 1 },
    el("a", { href: addressOf(entry), class: `case-row v-${entry.verdict}`, "aria-current": openHere ? "true" : null },
      el("span", { class: "sign" }, verdictMark(entry.verdict), el("span", { class: "unseen" }, known("verdict", entry.verdict))),
      el("span", { class: "id" }, brief(entry.case_id)),
      strip(entry.spread, { width: 76, height: 18 }),
      el("span", { class: "why" }, decisionMark(entry), manySuites && el("span", { class: "of-suite" }, `${brief(entry.suite)} · `),
        entry.sentence ? brief(say(entry.sentence)) : readable(entry.preview) || t("case.pass"))));
  return item;
}

function windowed() {
  return shown.length > WINDOW_ABOVE;
}

function paintRows() {
  const list = byId("case-rows");
  list.classList.toggle("windowed", windowed());
  list.style.height = windowed() ? `${shown.length * ROW_HEIGHT}px` : "";
  if (!shown.length) {
    replace(list, el("li", { class: "nothing" }, t("search.nothing")));
    return;
  }
  if (windowed()) {
    list.dataset.range = "";
    paintWindow();
  } else {
    keepingFocus(list, () => replace(list, shown.map(row)));
  }
}

// Rows are made anew at each change; whoever walks the list by keyboard must not be thrown out of it.
function keepingFocus(list, paint) {
  const focused = list.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  paint();
  if (focused) [...list.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus({ preventScroll: true });
}

function paintWindow() {
  const list = byId("case-rows");
  if (!windowed()) return;
  const box = byId("rows-box");
  const ownScroll = getComputedStyle(box).overflowY !== "visible";
  const top = ownScroll ? box.scrollTop : Math.max(0, -list.getBoundingClientRect().top);
  const height = ownScroll ? box.clientHeight : innerHeight;
  const first = Math.max(0, Math.floor(top / ROW_HEIGHT) - OVERSCAN);
  const last = Math.min(shown.length, Math.ceil((top + height) / ROW_HEIGHT) + OVERSCAN);
  const range = `${first}-${last}-${searching}-${state.open ? state.open.asked : ""}`;
  if (list.dataset.range === range) return;
  list.dataset.range = range;
  keepingFocus(list, () => replace(list, shown.slice(first, last).map((entry, offset) => {
    const item = row(entry, first + offset);
    item.style.top = `${(first + offset) * ROW_HEIGHT}px`;
    return item;
  })));
}

function revealOpen() {
  const index = state.open ? shown.indexOf(state.open.entry) : -1;
  const box = byId("rows-box");
  if (index < 0 || getComputedStyle(box).overflowY === "visible") return;
  if (windowed()) {
    const top = index * ROW_HEIGHT;
    if (top < box.scrollTop || top + ROW_HEIGHT > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 3;
    paintWindow();
  } else {
    byId("case-rows").children[index]?.scrollIntoView({ block: "nearest" });
  }
}

// Next and previous go by the filtered list; from the overview they enter it at its top.
function neighbour(step) {
  const index = state.open ? shown.indexOf(state.open.entry) : -1;
  if (index < 0) return step > 0 ? shown[0] : undefined;
  return shown[index + step];
}
