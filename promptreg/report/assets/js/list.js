// The list of cases. Long lists are windowed: only the rows in sight are elements.

const ROW_HEIGHT = 66;
const WINDOW_ABOVE = 300;
const OVERSCAN = 8;
let shown = report.cases;
let paintedList = 0;

function railSkeleton() {
  return el("nav", { id: "rail", "aria-label": t("list.label") },
    finder(),
    el("div", { id: "rows-box", class: "rows-box", onkeydown: listKey }, el("ol", { id: "case-rows", class: "case-rows" })));
}

function row(entry, index) {
  const openHere = state.open && state.open.entry === entry;
  const trend = rowTrend(entry);
  const lead = leadOf(entry);
  const item = el("li", { "aria-setsize": shown.length, "aria-posinset": index + 1 },
    el("a", { href: addressOf(entry), class: `case-row v-${entry.verdict}${trend ? " with-trend" : ""}`, "aria-current": openHere ? "true" : null,
      onclick: (event) => rowClicked(event, entry) },
      el("span", { class: "sign" }, verdictMark(entry.verdict), el("span", { class: "unseen" }, known("verdict", entry.verdict))),
      el("span", { class: "id" }, brief(entry.case_id)),
      strip(entry.spread, { width: 76, height: 18 }),
      el("span", { class: "why" }, decisionMark(entry), manySuites && el("span", { class: "of-suite" }, `${brief(entry.suite)} · `),
        lead && el("span", { class: "tells" }, entry.facts ? lead : withCommands(lead), " · "), entry.sentence ? briefSentenceOf(entry.sentence, lead) : readable(entry.preview) || t("case.pass")),
      trend));
  return item;
}

// Causes by which facts that came or went are told; where another one, such as an empty answer, took them along, that says more.
const OF_FACTS = new Set(["fact", "negation", "channel", "check", "added", "left_out", "order", "word"]);

// What tells a case from its neighbours, whose sentences begin alike: the facts that differ, else its first cause.
function leadOf(entry) {
  const cause = (report.causes || [])[(entry.causes || [])[0] - 1];
  const title = cause ? brief(say(cause.title)) : "";
  if (!entry.facts) return title;
  const replaced = entry.facts.split("; ").some((fact) => !fact.startsWith("∅ ") && !fact.endsWith(" ∅"));
  return replaced || !cause || OF_FACTS.has(cause.kind) ? readable(entry.facts) : title;
}

// The address in the row may be older than the filter; with a modifier the browser does what it does with links.
function rowClicked(event, entry) {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  openCase(entry);
}

// In the list the arrows go from case to case, elsewhere they scroll.
function listKey(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !state.keys || keyIsTyped(event) || event.shiftKey) return;
  const place = Number(event.target.closest("li")?.getAttribute("aria-posinset"));
  if (!place) return;
  const next = shown[place - 1 + step];
  event.preventDefault();
  if (next) openCase(next);
  else if (step < 0) byId("search").focus();
}

function focusRow(entry) {
  if (!entry) return;
  const link = [...byId("case-rows").querySelectorAll("a")].find((each) => each.getAttribute("href") === addressOf(entry));
  link?.focus({ preventScroll: true });
}

function windowed() {
  return shown.length > WINDOW_ABOVE;
}

function paintRows() {
  const list = byId("case-rows");
  paintedList += 1;
  list.classList.toggle("windowed", windowed());
  list.style.height = windowed() ? `${shown.length * ROW_HEIGHT}px` : "";
  if (!shown.length) {
    replace(list, el("li", { class: "nothing" }, t(filterWrong() ? "query.none_shown" : "search.nothing")));
  } else if (windowed()) {
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
  const first = Math.min(Math.max(0, Math.floor(top / ROW_HEIGHT) - OVERSCAN), shown.length - 1);
  const last = Math.min(shown.length, Math.ceil((top + height) / ROW_HEIGHT) + OVERSCAN);
  const range = `${first}-${last}-${paintedList}`;
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
  // Only the list moves: `scrollIntoView` would move the page as well, and the case's name under the bar.
  const item = windowed() ? null : byId("case-rows").children[index];
  const top = item ? item.offsetTop : index * ROW_HEIGHT;
  const height = item ? item.offsetHeight : ROW_HEIGHT;
  if (top < box.scrollTop || top + height > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 3;
  paintWindow();
}

// Next and previous go by the filtered list; from the overview they enter it at its top.
function neighbour(step) {
  const index = state.open ? shown.indexOf(state.open.entry) : -1;
  if (index < 0) return step > 0 ? shown[0] : undefined;
  return shown[index + step];
}
