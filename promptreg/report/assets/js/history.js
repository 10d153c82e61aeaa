// Earlier runs of the same target: what each said of a case, how many cases had which verdict, what changed since.

const CHANGES = ["newly_failing", "still_failing", "waived", "fixed", "approved", "unproven", "new", "gone", "same"];
const EARLIER = { "-": "none", p: "pass", c: "changed", d: "drift", f: "fail", n: "new", m: "missing", e: "error", w: "waived" };

// What is as now is not in the list: no trend means that every earlier run said what this one says.
function earlierOf(entry) {
  return (report.history || []).map((_, index) => entry.trend ? EARLIER[entry.trend[index]] || "none" : entry.verdict);
}

function wasOf(entry) {
  return report.against ? entry.was || entry.verdict : null;
}

function sinceOf(entry) {
  return report.against ? entry.since || "same" : null;
}

function wasName(verdict) {
  return verdict === "none" ? t("was.none") : known("verdict", verdict);
}

function trendShape(verdict, x, y, r) {
  return verdict === "none" ? svg("path", { class: "shape line v-none", d: `M${x - r * 0.7},${y} L${x + r * 0.7},${y}` })
    : shapeOf(verdict, x, y, r);
}

function dayAndTime(unixSeconds) {
  if (!isTime(unixSeconds)) return "";
  return new Intl.DateTimeFormat(htmlLang(), { month: "numeric", day: "numeric", hour: "2-digit", minute: "2-digit" }).format(unixSeconds * 1000);
}

const MARK = 8;

// In the list: one shape for each run, this one last and set apart. A case that always passed has none.
function rowTrend(entry) {
  const earlier = earlierOf(entry);
  if (!earlier.length || entry.verdict === "pass" && !entry.trend) return null;
  const width = (earlier.length + 1) * MARK + 4;
  return svg("svg", { class: "row-trend", viewBox: `0 0 ${width} 10`, width, height: 10, role: "img",
    "aria-label": t("trend.label", { verdicts: earlier.map(wasName).join(", ") }) },
  earlier.map((verdict, index) => trendShape(verdict, index * MARK + MARK / 2, 5, 2.8)),
  svg("line", { class: "axis", x1: width - MARK - 2, x2: width - MARK - 2, y1: 1, y2: 9 }),
  trendShape(entry.verdict, width - MARK / 2, 5, 3.2));
}

// On a case's page: every run with its date, and what became of the case since the run before.
function caseTrend(entry) {
  if (!report.against) return null;
  const runs = report.history || [];
  const item = (verdict, when, title, now) => el("li", { class: now ? `now v-${verdict}` : `v-${verdict}`, title },
    svg("svg", { class: "verdict-mark", viewBox: "0 0 14 14", width: 14, height: 14, "aria-hidden": "true" }, trendShape(verdict, 7, 7, 5)),
    el("span", { class: "unseen" }, title), el("span", { class: "when", "aria-hidden": "true" }, when));
  const told = (at, verdict) => t("trend.run", { date: at, verdict: wasName(verdict) });
  return el("div", { class: "case-trend" },
    el("p", { class: "hint" }, t("since.case", { was: wasName(wasOf(entry)), date: date(report.against.started_at), since: t(`since.${sinceOf(entry)}`) })),
    runs.length > 0 && el("ol", { class: "trend", "aria-label": t("trend.title") },
      earlierOf(entry).map((verdict, index) => item(verdict, dayAndTime(runs[index].started_at), told(date(runs[index].started_at), verdict))),
      item(entry.verdict, t("history.this"), told(t("history.this"), entry.verdict), true)));
}

// Under the counts: what changed since the run before, each kind a way to its cases.
function sinceLine() {
  if (!report.against) return null;
  const byChange = new Map();
  for (const entry of report.cases) byChange.set(sinceOf(entry), (byChange.get(sinceOf(entry)) || 0) + 1);
  const present = CHANGES.filter((change) => change !== "same" && byChange.get(change));
  return el("div", { class: "since" },
    (report.since_notes || []).length > 0 && el("ul", { class: "warnings" }, report.since_notes.map((note) => el("li", null, sentenceOf(note)))),
    el("p", null, t("since.line", { date: date(report.against.started_at), deployment: readable(report.against.deployment), since: say(report.since) })),
    present.length > 0 && el("ul", null, present.map((change) => el("li", null,
      button(null, { class: "count", "data-since": change, onclick: () => onlySince(change) },
        el("b", null, number(byChange.get(change))), " ", t(`since.${change}`))))));
}

function onlySince(change) {
  setQuery(withValues(state.query, asked().terms, "since", [change]));
  byId("rail").scrollIntoView({ block: "nearest" });
}

function historyColumns() {
  const earlier = (report.history || []).map((run) => ({
    when: dayAndTime(run.started_at), date: date(run.started_at), run,
    counts: Object.fromEntries((run.counts || []).map((each) => [each.verdict, each.cases])),
  }));
  return [...earlier, { when: t("history.this"), date: t("history.this"), counts: counts(report.cases),
    run: { run_id: report.run_id, verdict: report.verdict } }];
}

function historySection() {
  if (!(report.history || []).length) return null;
  const columns = historyColumns();
  const present = VERDICTS.filter((verdict) => columns.some((column) => column.counts[verdict]));
  return foldedSection("history.title", el("p", { class: "hint" }, t("history.hint", { deployment: readable(report.target.name) })),
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("history.title") }, historyPicture(columns, present)),
    foldable(t("history.table"), false, historyTable(columns, present)));
}

const COLUMN = 62;

// One column for each run, cut by verdict, the worst on top; a part that has room shows its verdict's shape and number.
function historyPicture(columns, present) {
  const size = { width: columns.length * COLUMN + 8, height: 176, top: 6, bottom: 34 };
  const room = size.height - size.top - size.bottom;
  const total = (column) => present.reduce((sum, verdict) => sum + (column.counts[verdict] || 0), 0);
  const most = Math.max(1, ...columns.map(total));
  return svg("svg", { class: "history", viewBox: `0 0 ${size.width} ${size.height}`, width: size.width, height: size.height, role: "img",
    "aria-label": t("history.label", { count: number(columns.length) }) },
  columns.map((column, index) => {
    const left = index * COLUMN + 8;
    let bottom = size.height - size.bottom;
    const parts = [...present].reverse().filter((verdict) => column.counts[verdict]).map((verdict) => {
      const height = Math.max(2, (column.counts[verdict] / most) * room);
      bottom -= height;
      return [
        svg("rect", { class: `part v-${verdict}`, x: left, y: bottom, width: COLUMN - 10, height: Math.max(1, height - 1.5), rx: 2 }),
        height >= 15 && [trendShape(verdict, left + 10, bottom + height / 2 - 0.7, 4),
          svg("text", { class: `v-${verdict}`, x: left + 20, y: bottom + height / 2 + 3.3 }, number(column.counts[verdict]))],
      ];
    });
    const told = present.filter((verdict) => column.counts[verdict]).map((verdict) => `${known("verdict", verdict)} ${number(column.counts[verdict])}`);
    return svg("g", { class: index === columns.length - 1 ? "now" : null },
      svg("title", null, t("history.column", { date: column.date, counts: told.join(" · ") })), parts,
      columnLabel(column.when, left + (COLUMN - 10) / 2, size.height - size.bottom + 14));
  }));
}

// Date above time where both do not fit beside each other.
function columnLabel(text, x, y) {
  const lines = text.length > 9 && text.includes(" ") ? [text.slice(0, text.indexOf(" ")), text.slice(text.indexOf(" ") + 1)] : [text];
  return lines.map((line, index) => svg("text", { class: "scale mid", x, y: y + index * 13 }, line.replace(/,$/, "")));
}

function historyTable(columns, present) {
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("history.table") }, el("table", { class: "calls" },
    el("thead", null, el("tr", null, el("th", { scope: "col" }, t("history.run")), el("th", { scope: "col" }, t("summary.verdict")),
      present.map((verdict) => el("th", { scope: "col" }, known("verdict", verdict))))),
    el("tbody", null, columns.map((column) => el("tr", null,
      el("th", { scope: "row", title: readable(column.run.run_id) }, column.date), el("td", null, known("suite", column.run.verdict)),
      present.map((verdict) => el("td", null, number(column.counts[verdict] || 0))))))));
}
