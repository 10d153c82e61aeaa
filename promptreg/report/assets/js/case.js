// One case: why it has its verdict, what was answered how often, the difference, and how the calls went.

let opening = 0;

async function renderCase() {
  const main = byId("main");
  const { entry, asked } = state.open;
  opening += 1;
  const mine = opening;
  if (!entry) {
    replace(main, caseHead(null, asked), el("p", { class: "lead" }, t("case.unknown", { id: readable(asked) })));
    return;
  }
  let details = null;
  let problem = null;
  try {
    details = await detailsOf(entry);
  } catch (error) {
    problem = error.message;
  }
  if (mine !== opening) return;
  const y = scrollY;
  replace(main, details ? caseArticle(entry, details)
    : el("article", { class: "case", "aria-labelledby": "case-heading" }, caseHead(entry), caseTitle(entry),
      el("p", { class: "lead" }, entry.sentence ? sentenceOf(entry.sentence) : t("case.pass")),
      caseTrend(entry),
      el("p", { class: "notice" }, problem || t("details.left_out"))));
  if (details) review.seen.add(keyOf(entry));
  else paintBar();
  paintHits(main);
  scrollTo(0, y);
}

function caseHead(entry) {
  const step = (label, key, neighbourEntry) => button(null, {
    class: "step", "aria-keyshortcuts": key, disabled: !neighbourEntry, onclick: () => openCase(neighbourEntry) }, t(label), el("kbd", null, key));
  const index = entry ? shown.indexOf(entry) : -1;
  return el("div", { class: "case-nav" },
    button(t("case.all"), { class: "back", onclick: () => openCase(null) }, "← ", t("case.all")),
    index >= 0 && el("span", { class: "position" }, t("case.position", { index: number(index + 1), total: number(shown.length) })),
    el("span", { class: "steps-nav" }, step("case.previous", "k", neighbour(-1)), step("case.next", "j", neighbour(1))));
}

function caseTitle(entry) {
  return el("header", { class: "case-title" },
    el("h1", { id: "case-heading", tabindex: -1 }, readable(entry.case_id)),
    el("p", { class: "case-meta" }, chip(entry.verdict), el("span", { class: "suite-name" }, readable(entry.suite)),
      (entry.tags || []).map((tag) => el("span", { class: "tag" }, readable(tag)))));
}

// A case opens on its difference: what the verdict rests on stands below it, or above where there is nothing to compare.
function caseArticle(entry, details) {
  const answers = lettered(details);
  const bothAnswered = answers.golden.length > 0 && answers.candidate.length > 0;
  const reasons = [faultsSection(details), checksSection(details), breachesSection(details)];
  return el("article", { class: "case", "aria-labelledby": "case-heading" },
    caseHead(entry),
    caseTitle(entry),
    askedLine(details),
    el("p", { class: "lead" }, sentenceOf(details.sentence)),
    causesOf(entry),
    bothAnswered ? [answersSection(details, answers), reasons] : [reasons, answersSection(details, answers)],
    evidenceSection(details),
    caseTrend(entry),
    contextSection(details),
    callsSection(details, answers),
    requestSection(details));
}

// The question beside its answers: the last user message. The whole request stands below.
function askedLine(details) {
  const asked = (details.messages || []).findLast((message) => message.role === "user" && typeof message.content === "string");
  return asked && asked.content.trim() !== "" && el("p", { class: "asked" }, el("b", null, t("request.asked")), " ",
    el("span", { lang: langOf(asked.content), dir: "auto" }, brief(asked.content)));
}

// The name of a side in a case. Where the golden was approved it holds answers of a target, and nothing calls them the source's.
function sideName(side, approval) {
  return side === "source" && approval ? t("side.approved") : t(`side.${side}`);
}

function approvedBy(approval) {
  return t("approved.by", { name: readable(approval.reviewer), day: readable(approval.day), deployment: readable(approval.deployment) });
}

function approvedNote(approval) {
  return el("p", { class: "approved-by" }, approvedBy(approval), " ", el("span", { class: "hint" }, t("approved.run", { run: readable(approval.run_id) })),
    approval.reason && el("span", { class: "reason" }, ` · ${readable(approval.reason)}`),
    (approval.despite || []).length > 0 && el("b", null, ` ${t("approved.although", { list: inSeries(approval.despite) })}`));
}

function same(a, b) {
  return (a.content || "") === (b.content || "") && (a.finish_reason || "") === (b.finish_reason || "")
    && JSON.stringify(a.tool_calls || []) === JSON.stringify(b.tool_calls || []);
}

function letterOf(index) {
  return index < 26 ? String.fromCharCode(65 + index) : letterOf(Math.floor(index / 26) - 1) + letterOf(index % 26);
}

// Distinct answers get letters, the same letter on both sides when the answer is the same; both list them in that order.
function lettered(details) {
  const golden = (details.golden || []).map((group, index) => ({ group, rank: index, letter: letterOf(index), shared: false }));
  let next = golden.length;
  const candidate = (details.candidate || []).map((group) => {
    const twin = golden.find((other) => same(other.group, group));
    if (twin) twin.shared = true;
    const rank = twin ? twin.rank : next++;
    return { group, rank, letter: letterOf(rank), shared: Boolean(twin) };
  });
  return { golden, candidate, telling: details.telling || [], approval: details.approval, goldenTotal: total(details.source_samples, golden), candidateTotal: total(details.target_samples, candidate) };
}

function total(samples, groups) {
  return samples && samples.length ? samples.length : groups.reduce((sum, { group }) => sum + group.passes.length, 0);
}

// What opens first: of the candidates that show what the case fails by, and that are not the same as a golden, the
// nearest to one; where there is none, the nearest that is not the same.
function opensFirst(answers) {
  const fresh = answers.candidate.flatMap((item, index) => item.shared ? [] : [index]);
  return fresh.find((index) => answers.telling.includes(index)) ?? fresh[0] ?? 0;
}

function chosen(answers) {
  const candidate = Math.min(state.candidate ?? opensFirst(answers), Math.max(0, answers.candidate.length - 1));
  const picked = answers.candidate[candidate];
  const diffs = (picked && picked.group.diffs) || [];
  const golden = Math.min(state.golden ?? (diffs.length ? diffs[0].golden || 0 : 0), Math.max(0, answers.golden.length - 1));
  return { candidate, golden, diff: diffs.find((diff) => (diff.golden || 0) === golden) };
}

function answersSection(details, answers) {
  if (!answers.golden.length && !answers.candidate.length) return section("answers.title", el("p", { class: "notice" }, t("answers.none")));
  const pick = chosen(answers);
  const golden = answers.golden[pick.golden];
  const candidate = answers.candidate[pick.candidate];
  return el("section", { class: "answers" },
    el("div", { class: "section-head" }, el("h2", null, t("answers.title")),
      golden && candidate && el("div", { class: "switches" }, formSwitch(pick.diff), viewSwitch())),
    details.approval && approvedNote(details.approval),
    state.open.entry.verdict === "new" && answers.golden.length > 0 && el("p", { class: "notice" }, t("answers.earlier_request")),
    el("div", { class: "who" },
      whoLine("source", answers.golden, answers.goldenTotal, details.source_samples, pick.golden, (index) => { state.golden = index; }, details.approval),
      whoLine("target", answers.candidate, answers.candidateTotal, details.target_samples, pick.candidate,
        (index) => { state.candidate = index; state.golden = null; }, details.approval)),
    golden && candidate ? comparison(golden, candidate, pick.diff, answers) : loneAnswer(golden || candidate, golden ? "golden" : "candidate", answers));
}

// One line per side: each distinct answer with its count, and under it which pass gave which.
function whoLine(side, items, all, samples, picked, pick, approval) {
  const failed = (samples || []).filter((sample) => sample.group === undefined || sample.group === null);
  const troubled = new Map((samples || []).map((sample) => [sample.pass_index, (sample.attempts || []).length > 1]));
  const byPass = new Map(items.flatMap((item, index) => item.group.passes.map((pass) => [pass, { item, index }])));
  for (const sample of failed) byPass.set(sample.pass_index, null);
  const passes = [...byPass.keys()].sort((a, b) => a - b);
  const lettersFirst = [...items.entries()].sort(([, a], [, b]) => a.rank - b.rank);
  return el("div", { class: `who-line ${side}` },
    el("h3", null, sideName(side, approval), " ", el("span", null, readable(side === "source" && approval ? approval.deployment : report[side].name))),
    el("div", { class: "who-answers", role: "group", "aria-label": side === "source" && approval ? t("answers.approved") : t(`answers.${side}`) }, lettersFirst.map(([index, item]) => button(null,
      { class: `answer${item.shared ? " shared" : ""}`, "aria-pressed": index === picked ? "true" : "false",
        "data-side": side, onclick: () => { pick(index); renderCase(); } },
      el("b", null, item.letter), " ", ofTotal(item.group.passes.length, all),
      item.shared && side === "target" && el("span", { class: "also" }, t(approval ? "answers.shared_approved" : "answers.shared")))),
    !byPass.size && el("span", { class: "hint" }, t("answers.not_asked")),
    failed.length > 0 && el("span", { class: "failed-count" }, t("answers.failed", { count: failed.length }))),
    el("ol", { class: "pass-strip", "aria-label": t("answers.passes") }, passes.map((pass) => {
      const given = byPass.get(pass);
      const label = given ? t("answers.pass_gave", { pass: pass + 1, letter: given.item.letter }) : t("answers.pass_failed", { pass: pass + 1 });
      return el("li", { class: `${given ? given.item.shared ? "shared" : "own" : "failed"}${given && given.index === picked ? " picked" : ""}${troubled.get(pass) ? " retried" : ""}`,
        title: label + (troubled.get(pass) ? ` · ${t("calls.retried")}` : "") },
      el("span", { class: "unseen" }, label), el("span", { "aria-hidden": "true" }, given ? given.item.letter : "×"));
    })));
}

function viewSwitch() {
  return el("div", { class: "switch", role: "group", "aria-label": t("view.label") }, VIEWS.filter((view) => view !== "side" || roomForTwo()).map((view) =>
    button(t(`view.${view}`), { "aria-pressed": effectiveView() === view ? "true" : "false",
      onclick: () => setView(view) })));
}

const FORMS = ["content", "json", "json_sorted"];

// Contents that are JSON on both sides are shown as such, keys sorted where their order differs, until chosen otherwise;
// as texts where they are the same JSON and what differs is around it.
function chosenForm(diff) {
  const parts = FORMS.map((form) => ((diff && diff.parts) || []).find((part) => part.part === form)).filter(Boolean);
  const forms = parts.map((part) => part.part);
  const wanted = state.form || remembered("form");
  const differing = parts.filter((part) => part.operations.some((operation) => operation.kind !== "equal"));
  const telling = (differing.length ? differing : parts).at(-1);
  const chosen = forms.includes(wanted) ? wanted : wanted === FORMS[0] ? FORMS[0] : telling && telling.part;
  return { forms, chosen };
}

function formSwitch(diff) {
  const { forms, chosen } = chosenForm(diff);
  return forms.length > 1 && el("div", { class: "switch", role: "group", "aria-label": t("form.label") }, forms.map((form) =>
    button(t(`form.${form}`), { "aria-pressed": form === chosen ? "true" : "false", "data-form": form, onclick: () => {
      state.form = form;
      remember("form", form);
      renderCase();
    } })));
}

function setView(view) {
  state.view = view;
  remember("view", view);
  updateAddress();
  renderCase();
}

function labelOf(side, item, answers) {
  const all = side === "golden" ? answers.goldenTotal : answers.candidateTotal;
  return t(side === "golden" && answers.approval ? "pane.approved" : `pane.${side}`, { letter: item.letter, count: ofTotal(item.group.passes.length, all) });
}

function comparison(golden, candidate, diff, answers) {
  const labels = { golden: labelOf("golden", golden, answers), candidate: labelOf("candidate", candidate, answers) };
  const every = (diff && diff.parts) || plainParts(golden.group, candidate.group);
  const { chosen } = chosenForm(diff);
  const parts = every.filter((part) => !FORMS.includes(part.part) || part.part === (chosen || FORMS[0]));
  const glance = every.filter((part) => FORMS.includes(part.part));
  return [
    !diff && el("p", { class: "notice" }, t("diff.other_pair")),
    golden.group.finish_reason !== candidate.group.finish_reason && el("p", { class: "notice" }, t("answers.finish", {
      source: readable(golden.group.finish_reason || "—"), target: readable(candidate.group.finish_reason || "—") })),
    flagsNotice(golden.group, candidate.group),
    glance.map(changesLine),
    parts.map((part) => partBlock(part, labels, parts)),
  ];
}

function flagsNotice(...groups) {
  const flags = [...new Set(groups.flatMap((group) => group.flags || []))];
  return flags.length > 0 && el("p", { class: "notice" }, flags.map((flag) => known("flag", readable(flag))).join(" · "));
}

// A pair whose difference was not computed is shown side by side without highlights.
function plainParts(golden, candidate) {
  const part = (name, a, b) => ({ part: name, complete: false, quiet: true,
    operations: [a && { kind: "delete", text: a }, b && { kind: "insert", text: b }].filter(Boolean) });
  const firstReasoning = (group) => (group.reasonings && group.reasonings[0].text) || "";
  const parts = [part("content", golden.content || "", candidate.content || "")];
  if (firstReasoning(golden) || firstReasoning(candidate)) parts.push(part("reasoning", firstReasoning(golden), firstReasoning(candidate)));
  if (golden.tool_calls || candidate.tool_calls) parts.push(part("tool_calls", callsText(golden), callsText(candidate)));
  return parts;
}

// An answer without a character says so, where it would stand.
function emptyText() {
  return el("p", { class: "empty-text" }, t("answers.nothing"));
}

function callsText(group) {
  return (group.tool_calls || []).map((call) => `${call.name}(${call.arguments})`).join("\n");
}

function partBlock(part, labels, parts) {
  const operations = part.operations || [];
  // An answer that only calls tools has no content, and nothing is missing.
  const callsOnly = parts.some((other) => other.part === "tool_calls") && !(parts[0].operations || []).length;
  if (part.part === "content" && callsOnly) return null;
  const equal = operations.every((operation) => operation.kind === "equal");
  const texts = operations.map((operation) => operation.text).join("");
  const body = [
    emptySide(operations, part.part, callsOnly),
    !FORMS.includes(part.part) && changesLine(part),
    part.note && el("p", { class: "notice" }, say(part.note)),
    part.complete === false && !part.quiet && el("p", { class: "notice" }, t("diff.incomplete")),
    hiddenNotice(operations),
    operations.length === 0 ? el("p", { class: "notice" }, t("answers.empty"))
      : equal ? el("div", { class: "panes one" }, el("div", { class: `pane both${looksLikeCode(texts) ? " code" : ""}` },
        el("h4", null, t("diff.equal")), textBlock(texts)))
        : part.complete === false ? plainPanes(operations, labels) : diffPanes(part, effectiveView(), labels),
  ];
  if (FORMS.includes(part.part)) return el("div", { class: `part content ${part.part}` }, body);
  const name = t(`part.${part.part}`) + (equal ? ` · ${t("part.same")}` : ` · ${t("part.differs")}`);
  return el("div", { class: `part ${part.part}` }, foldable(name, part.part === "tool_calls" && (callsOnly || !equal), body));
}

// What the eye cannot see, named and counted on each side.
function hiddenNotice(operations) {
  const sides = ["insert", "delete"].map((other) => hiddenCounts(operations.filter((operation) => operation.kind !== other)
    .map((operation) => operation.text).join("")));
  const marks = [...new Set(sides.flatMap((side) => [...side.keys()]))];
  return marks.length > 0 && el("p", { class: "notice hidden-marks" }, t("text.hidden"), " ", marks.map((mark, index) => [
    index > 0 && " · ", el("span", { class: "mark-name" }, mark), known("mark", mark) === mark ? " " : ` ${known("mark", mark)} `,
    t("text.hidden_count", { golden: number(sides[0].get(mark) || 0), candidate: number(sides[1].get(mark) || 0) })]));
}

// An empty pane looks broken: the empty side is named.
function emptySide(operations, name, callsOnly) {
  if (!operations.length || !["content", "tool_calls"].includes(name)) return null;
  const missing = ["delete", "insert"].find((side) => operations.every((operation) => operation.kind === side));
  const lacks = name === "content" ? "empty" : callsOnly ? "nothing" : "no_call";
  return missing && el("p", { class: "notice" }, t(`answers.${lacks}_${missing === "delete" ? "target" : "source"}`));
}

// Two columns need room; below it the inline view is shown whatever was chosen for wide screens.
function roomForTwo() {
  return innerWidth >= 900;
}

function effectiveView() {
  return state.view === "side" && !roomForTwo() ? "inline" : state.view;
}

function plainPanes(operations, labels) {
  const view = effectiveView();
  const pane = (side, kind) => {
    const text = operations.filter((operation) => operation.kind !== kind).map((operation) => operation.text).join("");
    return el("div", { class: `pane ${side}${looksLikeCode(text) ? " code" : ""}` }, el("h4", null, labels[side]),
      text ? textBlock(text) : emptyText());
  };
  return el("div", { class: view === "side" ? "panes plain two" : "panes plain one" },
    view !== "candidate" && pane("golden", "insert"), view !== "golden" && pane("candidate", "delete"));
}

function loneAnswer(item, side, answers) {
  const text = item.group.content || "";
  return el("div", { class: "panes one" }, el("div", { class: `pane ${side}${looksLikeCode(text) ? " code" : ""}` },
    el("h4", null, labelOf(side, item, answers)),
    text || callsText(item.group) ? textBlock(text) : emptyText()),
  callsText(item.group) && el("div", { class: "pane code" }, el("h4", null, t("part.tool_calls")),
    textBlock(callsText(item.group))));
}

// Paper has no buttons: what is folded is opened for it, and closed again afterwards.
let openedForPaper = null;

addEventListener("beforeprint", () => {
  if (openedForPaper) return;
  openedForPaper = { unfolded: state.unfolded, folds: [] };
  if (!state.open) {
    openFolds();
    return;
  }
  state.unfolded = true;
  renderCase().then(openFolds);
});

addEventListener("afterprint", () => {
  if (!openedForPaper) return;
  const { unfolded, folds } = openedForPaper;
  openedForPaper = null;
  state.unfolded = unfolded;
  if (state.open) renderCase();
  else for (const fold of folds) fold.open = false;
});

function openFolds() {
  if (!openedForPaper) return;
  openedForPaper.folds = [...byId("main").querySelectorAll("details:not([open])")];
  for (const fold of openedForPaper.folds) fold.open = true;
}
