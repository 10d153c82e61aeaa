// The search box with what belongs to it, and what happens when the filter changes.

const SETTLE_MS = 150;
const PROBLEM_MS = 600;
const SLOW_CHUNKS = 4;
let filterTimer = 0;
let facetsOpen = false;

function asked() {
  return parseQuery(state.query, CHOICES);
}

// A query that was not understood shows nothing: a decision on the whole list must never reach more than was asked for.
function filterWrong() {
  return asked().problems.some((problem) => !problem.applied);
}

function finder() {
  return el("div", { class: "finder", role: "search" },
    el("label", { class: "unseen", for: "search" }, t("search.label")),
    el("input", { id: "search", type: "search", autocomplete: "off", autocapitalize: "off", spellcheck: "false", maxlength: QUERY_LIMIT,
      placeholder: t("search.placeholder"), value: state.query, "aria-describedby": "query-problem", oninput: searchTyped,
      oncompositionend: searchTyped, onkeydown: searchKey, onchange: () => updateAddress() }),
    el("p", { id: "query-problem", class: "query-problem", role: "status" }),
    el("ul", { id: "chips", class: "chips", "aria-label": t("chip.label") }),
    el("div", { id: "facets", class: "facets", role: "group", "aria-label": t("facets.label") }),
    el("div", { class: "finder-line" },
      el("details", { id: "more-facets", class: "fold more-facets", open: facetsOpen, ontoggle: facetsToggled }, el("summary", null, t("facet.open"))),
      sortMenu()),
    el("div", { id: "facet-groups", class: "facet-groups" }),
    el("div", { class: "found-line" }, el("p", { id: "found", class: "found", role: "status" }),
      el("progress", { id: "scan", max: 1, hidden: true, "aria-label": t("search.running") }),
      button(t("search.stop"), { id: "stop-scan", class: "stop", hidden: true, onclick: stopSearching })),
    el("p", { id: "found-note", class: "found" }));
}

function facetsToggled(event) {
  if (event.target.open === facetsOpen) return;
  facetsOpen = event.target.open;
  applyFilter();
}

// A half-composed Chinese word is not a query yet.
function searchTyped(event) {
  if (event.isComposing) return;
  state.query = event.target.value;
  updateAddress();
  clearTimeout(filterTimer);
  // A term that is being written is no mistake yet.
  if (filterWrong()) filterTimer = setTimeout(applyFilter, PROBLEM_MS);
  else applyFilter();
}

function searchKey(event) {
  if (event.isComposing || event.keyCode === 229) return;
  if (event.key === "Escape") {
    event.preventDefault();
    event.stopPropagation();
    if (scan) stopSearching();
    else event.target.blur();
  } else if (event.key === "Enter" || event.key === "ArrowDown") {
    event.preventDefault();
    clearTimeout(filterTimer);
    applyFilter();
    byId("case-rows").querySelector("a")?.focus();
  }
}

// Chosen, not typed: the box follows, and it is a step that one can go back.
function setQuery(text) {
  state.query = text.slice(0, QUERY_LIMIT);
  byId("search").value = state.query;
  filterChosen();
}

function filterChosen() {
  updateAddress(true);
  applyFilter();
}

function stopSearching() {
  stopScan();
  paintFound(asked().terms, null, true);
  byId("search").focus();
}

async function applyFilter() {
  clearTimeout(filterTimer);
  stopScan();
  wordsChanged();
  const { terms } = asked();
  const words = wordsToRead(terms);
  paintFiltered(words.length ? { done: 0, total: chunkNumbers().length } : null);
  if (!words.length) return;
  // The list alone has answered; now the texts, once the word is written.
  const mine = { stopped: false };
  scan = mine;
  await pause(SETTLE_MS);
  if (!mine.stopped) await readTexts(words, (progress) => paintFiltered(progress.done < progress.total ? progress : null));
}

let paintedAt = 0;

// While texts are read the list is painted now and then only.
function paintFiltered(progress) {
  const { terms } = asked();
  if (progress && progress.done > 0 && performance.now() - paintedAt < 250) {
    paintFound(terms, progress, false);
    return;
  }
  paintedAt = performance.now();
  const wrong = filterWrong();
  const facets = facetsOpen ? FACETS : ["verdict"];
  const { found, counts: byFacet } = filtered(wrong ? [] : report.cases, terms, facets);
  shown = sorted(found, state.sort);
  paintProblems();
  paintChips(asked());
  paintFacets(byFacet, terms);
  byId("facet-groups").hidden = !facetsOpen;
  byId("sort").value = state.sort;
  paintFound(terms, progress, false);
  paintCauses();
  paintRows();
}

// One sentence for the first thing that was not understood; the chips show the others.
function paintProblems() {
  const problem = asked().problems[0];
  const text = problem ? readable(t(`query.${problem.name}`, problem.values)) : "";
  if (byId("query-problem").textContent !== text) byId("query-problem").textContent = text;
  byId("search").setAttribute("aria-invalid", problem && !problem.applied ? "true" : "false");
}

function paintFound(terms, progress, stopped) {
  const hits = hitsIn(shown, terms);
  const count = shown.length === report.cases.length ? t("search.all", { count: number(shown.length) })
    : withCause(t("search.found", { count: number(shown.length), total: number(report.cases.length) }));
  const line = hits ? t("search.hits", { found: count, hits: number(hits) }) : count;
  const running = progress !== null && progress.total > SLOW_CHUNKS;
  // Told once at the end, not at each step: the line is read aloud.
  if (!running && byId("found").textContent !== line) byId("found").textContent = line;
  if (running && progress.done === 0) byId("found").textContent = t("search.running");
  byId("scan").hidden = !running;
  byId("stop-scan").hidden = !running;
  if (running) byId("scan").value = progress.done / progress.total;
  const notes = [
    stopped && t("search.stopped"),
    terms.some((term) => TEXT_FIELDS.includes(term.field)) && [textsLeftOut(), textsUnreadable()],
    windowed() && t("search.browser"),
  ].flat().filter(Boolean);
  replace(byId("found-note"), notes.join(" "));
}

function textsLeftOut() {
  const count = report.cases.reduce((sum, entry) => sum + (entry.chunk === undefined), 0);
  return count > 0 && t("search.left_out", { count: number(count) });
}

function textsUnreadable() {
  const count = [...unreadable.keys()].reduce((sum, chunk) => sum + entriesOf(chunk).length, 0);
  return count > 0 && `${t("search.unreadable", { count: number(count) })} ${[...unreadable.values()][0]}`;
}
