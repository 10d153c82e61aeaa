// The first screen: the verdict, the counts, what to do, what differs between the deployments, noise against drift.

function overview() {
  const all = counts(report.cases);
  const causes = causesSection();
  // Where there is no cause to name, what the verdict rests on has its place.
  const open = !causes && report.suites.length <= SUITES_OPEN;
  return el("article", { class: "overview", "aria-labelledby": "verdict-heading" },
    el("div", { class: "first" },
      el("div", { class: "first-said" },
        el("p", { class: "eyebrow" }, t("overview.eyebrow", {
          source: readable(report.source.name), target: readable(report.target.name), date: date(report.created_at),
        })),
        el("h1", { id: "verdict-heading", tabindex: -1, class: `verdict-line s-${report.verdict}` }, known("suite", report.verdict)),
        el("p", { class: "lead" }, sentenceOf(report.headline || report.sentence)),
        countBar(all),
        sinceLine()),
      nextSteps(),
      warnings(),
      el("div", { class: "first-causes" }, causes, open && suitesSection(true), worstCases()),
      el("div", { class: "first-side" }, deployments(), noisePicture())),
    historySection(),
    noiseBands(),
    !open && suitesSection(false),
    el("footer", null, t("overview.footer", { run: readable(report.run_id), version: report.version || "" })));
}

function nextSteps() {
  const steps = report.next_steps || [];
  if (!steps.length) return null;
  return el("section", { class: "first-next" }, el("h2", null, t("next.title")), steps.length === 1
    ? el("p", null, sentenceOf(steps[0]))
    : el("ol", { class: "steps" }, steps.map((step) => el("li", null, sentenceOf(step)))));
}

const WARNINGS_SHOWN = 2;

function warnings() {
  const all = (report.warnings || []).map((warning) => el("li", null, sentenceOf(warning)));
  if (!all.length) return null;
  const list = (items) => el("ul", { class: "warnings", "aria-label": t("warnings.title") }, items);
  return el("div", { class: "first-warnings" }, list(all.slice(0, WARNINGS_SHOWN)),
    all.length > WARNINGS_SHOWN && foldable(t("warnings.more", { count: number(all.length - WARNINGS_SHOWN) }), false, list(all.slice(WARNINGS_SHOWN))));
}

function section(title, ...children) {
  return el("section", null, el("h2", null, t(title)), children);
}

// What the first look can do without: its heading says what is there.
function foldedSection(title, ...children) {
  return el("section", { class: "folded" }, foldable(t(title), false, children));
}

// One bar, as long as the report, cut by verdict; under it the same numbers in words, each a filter.
function countBar(all) {
  const present = VERDICTS.filter((verdict) => all[verdict]);
  const bar = el("div", { class: "bar", "aria-hidden": "true" }, present.map((verdict) => {
    const part = el("span", { class: `v-${verdict}` });
    part.style.flexGrow = String(all[verdict]);
    return part;
  }));
  return el("div", { class: "counts" }, bar, el("ul", null, present.map((verdict) => el("li", null,
    button(null, { class: `count v-${verdict}`, title: t(`explain.${verdict}`), onclick: () => onlyVerdict(verdict) },
      verdictMark(verdict), el("b", null, number(all[verdict])), " ", known("verdict", verdict))))));
}

const WORST_SHOWN = 5;

// On narrow screens the list stands below the page; its head comes up here.
function worstCases() {
  const worst = report.cases.filter((entry) => entry.verdict !== "pass").slice(0, WORST_SHOWN);
  if (!worst.length) return null;
  return el("section", { class: "worst" }, el("h2", null, t("list.title")), el("ol", null, worst.map(row)),
    button(t("overview.all", { count: number(report.cases.length) }), { class: "to-list on-screen",
      onclick: () => byId("rail").scrollIntoView() }));
}

function onlyVerdict(verdict) {
  setQuery(withValues(state.query, asked().terms, "verdict", [verdict]));
  byId("rail").scrollIntoView({ block: "nearest" });
}

const DIFFERING_SHOWN = 5;

function settingsOf(deployment) {
  return new Map((deployment.settings || []).map((setting) => [`${setting.group}\u0000${setting.name}`, setting]));
}

function deployments() {
  const source = settingsOf(report.source);
  const target = settingsOf(report.target);
  const rows = [...new Set([...source.keys(), ...target.keys()])].map((key) => {
    const left = source.get(key);
    const right = target.get(key);
    const compared = (left || right).compared !== false;
    return { setting: left || right, left, right, compared, differs: compared && (!left || !right || left.value !== right.value) };
  });
  // What the project noted itself (hardware, image, quantisation) says more than a server's version.
  const noted = (row) => row.setting.group === "provenance" ? 0 : 1;
  const differing = rows.filter((row) => row.differs).sort((one, other) => noted(one) - noted(other));
  // A fold for one row would take its place.
  const open = differing.length === DIFFERING_SHOWN + 1 ? differing.length : DIFFERING_SHOWN;
  const more = Math.max(0, differing.length - open);
  const rest = [...differing.slice(open), ...rows.filter((row) => !row.differs)];
  return section("deployments.title",
    !differing.length && el("p", { class: "hint" }, t("deployments.same")),
    differing.length > 0 && settingsTable(differing.slice(0, open)),
    rest.length > 0 && foldable(t(more ? "deployments.more" : "deployments.rest",
      { count: number(rest.length), differ: number(more) }), false, settingsTable(rest)));
}

// Times of the run are told as times; everything else stands as it was configured.
function settingValue(setting) {
  if (setting.name !== "recorded_at") return setting.value;
  const at = Date.parse(setting.value);
  return Number.isFinite(at) ? date(at / 1000) : setting.value;
}

function settingsTable(rows) {
  const cell = (setting, other, differs) => el("td", { class: differs ? "differs" : null },
    setting ? readable(settingValue(setting)) : el("span", { class: "absent" }, t("deployments.absent")));
  return el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("deployments.title") }, el("table", { class: "settings" },
    el("thead", null, el("tr", null, el("td"), el("th", { scope: "col" }, t("side.source"), el("span", null, readable(report.source.name))),
      el("th", { scope: "col" }, t("side.target"), el("span", null, readable(report.target.name))))),
    el("tbody", null, rows.map((row) => el("tr", { class: row.differs ? "differs" : null },
      el("th", { scope: "row" }, row.differs && el("span", { class: "unequal", title: t("deployments.differs") }, "≠"),
        readable(known("setting", row.setting.name))),
      cell(row.left, row.right, row.differs), cell(row.right, row.left, row.differs))))));
}

function noisePicture() {
  const picture = scatter(report.cases, openCase);
  if (!picture) return null;
  const measured = report.cases.find((entry) => entry.measured).measured;
  return section("scatter.title", picture, el("p", { class: "hint" }, t("scatter.hint", { channel: known("channel", measured) })),
    approvedCount() > 0 && el("p", { class: "hint" }, t("scatter.approved", { count: number(approvedCount()) })),
    el("div", { class: "on-screen" }, foldable(t("scatter.table"), false, noiseTable())));
}

function approvedCount() {
  return report.cases.filter((entry) => entry.approved).length;
}

const TABLE_ROWS = 200;

// The picture's numbers, the same cases in the same order as in the list.
function noiseTable() {
  const cases = report.cases.filter((entry) => Number.isFinite(entry.noise) && Number.isFinite(entry.distance));
  return [el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("scatter.table") }, el("table", { class: "calls" },
    el("thead", null, el("tr", null, ["summary.case", "summary.verdict", "scatter.x", "scatter.y"].map((head) => el("th", { scope: "col" }, t(head))))),
    el("tbody", null, cases.slice(0, TABLE_ROWS).map((entry) => el("tr", null,
      el("th", { scope: "row" }, brief(entry.case_id)), el("td", null, known("verdict", entry.verdict)),
      el("td", null, number(entry.noise, 3)), el("td", null, number(entry.distance, 3))))))),
  cases.length > TABLE_ROWS && el("p", { class: "hint" }, t("summary.more", { count: number(cases.length - TABLE_ROWS) }))];
}

const BANDS_SHOWN = 8;

// The worst cases, one line each: the source's own spread as a band, every answer of the target as a point.
function noiseBands() {
  const cases = report.cases.filter((entry) => entry.verdict !== "pass" && finite((entry.spread || {}).source).length
    && finite((entry.spread || {}).target).length).slice(0, BANDS_SHOWN);
  if (!cases.length) return null;
  return foldedSection("bands.title", el("p", { class: "hint" }, t("bands.hint")), el("ol", { class: "bands" }, cases.map((entry) => {
    const source = finite(entry.spread.source);
    const outside = finite(entry.spread.target).filter((value) => value > Math.max(...source)).length;
    return el("li", null, button(null, { class: "band-row", onclick: () => openCase(entry) },
      el("span", { class: "band-name" }, verdictMark(entry.verdict), el("span", { class: "unseen" }, known("verdict", entry.verdict)), " ", brief(entry.case_id)),
      strip(entry.spread, { width: 360, height: 22 }),
      el("span", { class: "band-says" }, t("bands.outside", { count: number(outside), total: number(finite(entry.spread.target).length) }))));
  })));
}

const SUITES_OPEN = 3;

function suitesSection(open) {
  const notes = (suite) => (suite.notes || []).length > 0 && el("ul", { class: "notes" }, suite.notes.map((note) => el("li", null, sentenceOf(note))));
  return (open ? section : foldedSection)("suites.title", report.suites.map((suite) => el("div", { class: "suite" },
    el("h3", null, readable(suite.name), " ", el("span", { class: `suite-verdict s-${suite.verdict}` }, known("suite", suite.verdict))),
    el("p", null, sentenceOf(suite.sentence)), notes(suite))));
}
