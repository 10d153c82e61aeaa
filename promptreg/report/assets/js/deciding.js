// Deciding: the bar under the page, the keys, and where decisions are kept. What a decision is lies in decisions.js.

const review = newReview(report.cases, () => todayText());
const STORED = `promptreg.decisions.${report.report_id}`;
const WAIVED_FOR_DAYS = 30;
const deciding = { notice: "", reviewer: "", onward: true, said: "" };

// `own`: whether a decision that the report was written with was made in this very page.
// Replaced as a whole where the page is served: decisions then go to the store at once.
const keeping = { start: restoreDecisions, save: keepInBrowser, open: () => notExported(review), openWord: "decide.not_exported",
  own: () => false };

function nowText() {
  return new Date().toISOString().replace(/\.\d+Z$/, "Z");
}

function todayText(days) {
  return new Date(Date.now() + (days || 0) * 86_400_000).toISOString().slice(0, 10);
}

// Storage may be missing, full or forbidden: then the page's memory is the only copy, and the bar says so.
function keepInBrowser() {
  try {
    localStorage.setItem(STORED, packReview(review));
    deciding.notice = "";
  } catch {
    deciding.notice = "decide.memory";
  }
}

function restoreDecisions() {
  deciding.reviewer = remembered("reviewer") || "";
  deciding.onward = remembered("onward") !== "off";
  try {
    const stored = localStorage.getItem(STORED);
    if (stored) unpackReview(review, stored, entryByKey);
  } catch {
    deciding.notice = "decide.memory";
  }
}

function openEntry() {
  return state.open && state.open.entry;
}

function newDecision(decision, reason, expires_on) {
  return { decision, reviewer: deciding.reviewer, reason: reason || "", expires_on: expires_on || null, decided_at: nowText() };
}

function decisionsChanged(keys) {
  keeping.save(keys);
  paintDecisions();
}

function paintDecisions() {
  paintRows();
  paintBar();
}

function announce(text) {
  deciding.said = text;
  if (!byId("said")) return;
  byId("said").textContent = text;
  showOnce();
}

// What stands in the bar already is spoken, not written a second time.
function showOnce() {
  const standing = [...document.querySelectorAll("#decide .standing")].some((each) => each.textContent === deciding.said);
  byId("said").classList.toggle("unseen", standing);
}

// After one case comes the next that waits; the bar says what was decided, and how to take it back.
function takeDecision(entry, decision) {
  decide(review, [[keyOf(entry), decision]]);
  decisionsChanged([keyOf(entry)]);
  const told = t(`decided.${decision.decision}`, { id: brief(entry.case_id) });
  deciding.last = entry;
  const next = deciding.onward && nextUndecided(review, shown, entry);
  announce(next || !deciding.onward ? told : `${told} ${t(nextUndecided(review, report.cases, null) ? "decide.list_done" : "decide.all_done")}`);
  if (next) openCase(next);
  if (decision.decision === "approve") sayReplaced(entry, told);
}

// An approval takes a golden away: which one is said with it, beside the way back.
function sayReplaced(entry, told) {
  detailsOf(entry).then((details) => {
    if (deciding.last === entry && deciding.said.startsWith(told)) announce(replacesText(details, "decided", deciding.said));
  }).catch(() => {});
}

// A rejection is taken at once; why is asked only of who wants to say it, of the case that was decided last.
function lastRejected() {
  const entry = deciding.last;
  const own = entry && review.made.get(keyOf(entry));
  return own && own.decision === "reject" ? entry : null;
}

function reasonForLast() {
  const entry = lastRejected();
  if (entry) reasonDialog(entry, "reject", true);
  else announce(t("decide.no_reject"));
}

// The decision of somebody else that one on this case would replace; a deferral waits for whoever comes next.
function standingOfOthers(entry) {
  const standing = review.made.has(keyOf(entry)) ? null : review.base.get(keyOf(entry));
  return standing && standing.decision !== "defer" && !keeping.own(standing) ? standing : null;
}

function chooseVerb(verb) {
  const entry = openEntry();
  if (!entry) return;
  const standing = standingOfOthers(entry);
  if (standing && !refusalOf(entry, verb)) replaceDialog(entry, standing, () => chosenVerb(entry, verb));
  else chosenVerb(entry, verb);
}

function chosenVerb(entry, verb) {
  const refusal = refusalOf(entry, verb);
  if (refusal) announce(t(refusal));
  else if (verb === "approve" && (unshowable(entry) || !review.seen.has(keyOf(entry)))) announce(notSeen(entry));
  else if (verb === "waive" || verb === "approve" && entry.lacks) reasonDialog(entry, verb);
  else takeDecision(entry, newDecision(verb));
}

// Nobody approves answers that were not on the screen.
function notSeen(entry) {
  const why = unshowable(entry);
  return why ? `${t("refusal.unseen")} ${t(why)}` : t("refusal.loading");
}

function stepBack(step, word) {
  const keys = step(review);
  if (!keys.length) {
    announce(t(`${word}.none`));
    return;
  }
  decisionsChanged(keys);
  const entry = entryByKey.get(keys[0]);
  announce(keys.length === 1 ? t(`${word}.one`, { id: brief(entry.case_id) }) : t(`${word}.many`, { count: number(keys.length) }));
  if (keys.length === 1 && openEntry() !== entry) openCase(entry);
}

function openNextUndecided() {
  const next = nextUndecided(review, shown, openEntry());
  if (next) openCase(next);
  else announce(t(nextUndecided(review, report.cases, openEntry()) ? "decide.list_done" : "decide.all_done"));
}

const VERB_KEYS = { approve: "a", reject: "r", waive: "w", defer: "s", remove: "x" };
const VERB_SIGNS = { approve: "✓", reject: "✕", waive: "◷", defer: "…", remove: "−", expired: "!" };

// The golden of a case that the suite no longer has is removed; there is nothing to approve in it.
function verbsOf(entry) {
  return VERBS.filter((verb) => verb !== (entry.verdict === "missing" ? "approve" : "remove"));
}

function verbButton(entry, verb, current) {
  const refusal = refusalOf(entry, verb) || verb === "approve" && unshowable(entry) && "refusal.unseen";
  return el("button", { type: "button", class: `verb d-${verb}`, "aria-pressed": current === verb ? "true" : "false", "aria-keyshortcuts": VERB_KEYS[verb],
    "aria-disabled": refusal ? "true" : null, title: refusal && t(refusal), onclick: () => chooseVerb(verb) },
  t(`verb.${verb}`), " ", el("kbd", { "aria-hidden": "true" }, VERB_KEYS[verb]));
}

function barButton(label, key, act, attributes, sign) {
  return el("button", { type: "button", class: "bar-button", "aria-keyshortcuts": key, "aria-label": sign && t(label), title: sign && t(label), onclick: act, ...attributes },
    sign || t(label), key && el("kbd", { "aria-hidden": "true" }, key));
}

// What stands on a case: this page's decision or one that the report was written with.
function decisionText(decision) {
  const by = decision.reviewer ? t("decide.by", { name: readable(decision.reviewer) }) : "";
  const until = decision.expires_on ? t("decide.until", { day: readable(decision.expires_on) }) : "";
  return [t(`done.${nowOf(review, decision)}`), by, until, decision.reason ? readable(decision.reason) : ""].filter(Boolean).join(" · ");
}

function decisionMark(entry) {
  const decision = decisionOn(review, keyOf(entry));
  if (!decision && entry.approved) {
    return el("span", { class: `decision-mark ${entry.approved === "despite" ? "d-reject" : "d-approve"}` },
      el("span", { "aria-hidden": "true" }, entry.approved === "despite" ? "!" : "✓"), " ", t(`approved.${entry.approved}`), " · ");
  }
  const now = nowOf(review, decision);
  return decision && el("span", { class: `decision-mark d-${now}` },
    el("span", { "aria-hidden": "true" }, VERB_SIGNS[now]), " ", t(`done.${now}`), " · ");
}

function standingLine(entry) {
  const decision = decisionOn(review, keyOf(entry));
  const own = review.made.get(keyOf(entry));
  const refusal = refusalOf(entry, entry.verdict === "missing" ? "remove" : "approve");
  return [
    lastRejected() && deciding.last !== entry && el("p", { class: "standing" },
      button(null, { class: "inline-button", id: "why-last", "aria-keyshortcuts": "R", onclick: reasonForLast },
        t("decide.why_last", { id: brief(deciding.last.case_id) }), " ", el("kbd", { "aria-hidden": "true" }, "R"))),
    decision && el("p", { class: "standing" }, decisionText(decision), " ",
      own && button(t(own.reason ? "decide.change_reason" : "decide.add_reason"), { class: "inline-button", onclick: () => reasonDialog(entry, own.decision) })),
    refusal ? el("p", { class: "standing" }, t(refusal)) : unshowable(entry) && el("p", { class: "standing" }, notSeen(entry)),
  ];
}

function barSkeleton() {
  return el("section", { id: "decide", class: "decide", "aria-label": t("decide.title") },
    el("div", { id: "decide-verbs", class: "verbs", role: "group", "aria-label": t("decide.verbs") }), el("div", { id: "decide-buttons", class: "bar-buttons" }),
    el("div", { id: "decide-line", class: "decide-line" }), el("p", { id: "said", class: "said", role: "status" }, deciding.said));
}

function paintBar() {
  if (!byId("decide")) return;
  const entry = openEntry();
  const focused = byId("decide").contains(document.activeElement) ? document.activeElement.textContent : null;
  const current = entry && (decisionOn(review, keyOf(entry)) || {}).decision;
  replace(byId("decide-verbs"), entry && verbsOf(entry).map((verb) => verbButton(entry, verb, current)));
  replace(byId("decide-buttons"),
    barButton("decide.undo", "u", () => stepBack(undoDecision, "undo"), { "aria-disabled": review.undo.length ? null : "true" }, "↶"),
    barButton("decide.redo", "U", () => stepBack(redoDecision, "redo"), { "aria-disabled": review.redo.length ? null : "true" }, "↷"),
    barButton("decide.next", "n", openNextUndecided),
    barButton("decide.list", "A", () => bulkDialog("approve")),
    barButton("decide.export", "E", exportDialog, { class: "bar-button main" }));
  const { total, done, others } = progressOf(review, report.cases);
  const open = keeping.open();
  replace(byId("decide-line"),
    el("p", { id: "progress", class: "progress" }, total ? t("decide.progress", { done: number(done), total: number(total) }) : t("decide.none_wait"),
      others > 0 && ` · ${t("decide.others", { count: number(others) })}`,
      review.served && [" · ", button(t("served.as", { name: readable(deciding.reviewer) }), { class: "inline-button", onclick: exportDialog })], open > 0 && [" · ",
      el("b", null, t(keeping.openWord, { count: number(open) }))]),
    entry && standingLine(entry),
    deciding.notice && el("p", { class: "notice", role: "alert" }, t(deciding.notice)));
  showOnce();
  if (focused) [...byId("decide").querySelectorAll("button")].find((one) => one.textContent === focused)?.focus();
}

registerKeys("help.deciding", [
  ...VERBS.map((verb) => ({ keys: [VERB_KEYS[verb]], help: `verb.${verb}`, once: true,
    when: () => openEntry() && verbsOf(openEntry()).includes(verb), act: () => chooseVerb(verb) })),
  { keys: ["R"], help: "decide.why", once: true, act: reasonForLast },
  { keys: ["n"], help: "decide.next", act: openNextUndecided },
  { keys: ["u"], help: "decide.undo", act: () => stepBack(undoDecision, "undo") },
  { keys: ["U"], help: "decide.redo", act: () => stepBack(redoDecision, "redo") },
  { keys: ["A"], help: "decide.list", once: true, act: () => bulkDialog("approve") },
  { keys: ["E"], help: "decide.export", once: true, act: exportDialog },
]);

// The other usual key for redo; where text is typed it belongs to the text.
function redoPressed(event) {
  const typed = document.querySelector("dialog[open]") || event.target instanceof Element && event.target.closest("input, textarea, select");
  if (!event.ctrlKey || event.altKey || event.metaKey || event.key.toLowerCase() !== "y" || typed || !state.keys) return;
  event.preventDefault();
  stepBack(redoDecision, "redo");
}

function startDeciding() {
  keeping.start();
  addEventListener("keydown", redoPressed);
  addEventListener("beforeunload", (event) => {
    if (keeping.open() > 0) event.preventDefault();
  });
  // Another window with the same report has decided.
  addEventListener("storage", (event) => {
    if (event.key !== STORED || !event.newValue || keeping.save !== keepInBrowser) return;
    unpackReview(review, event.newValue, entryByKey);
    paintDecisions();
  });
}
