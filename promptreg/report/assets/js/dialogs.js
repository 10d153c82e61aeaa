// What deciding asks: a reason and a day, which cases of the list, and where the decisions go.

function openDialog(id, title, ...children) {
  const dialog = el("dialog", { id, class: "ask", "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), children);
  dialog.addEventListener("close", () => dialog.remove());
  byId("app").append(dialog);
  dialog.showModal();
  return dialog;
}

function closeDialog(id) {
  byId(id).close();
}

// Enter takes what is typed, unless it only ends the composition of a Chinese word.
function onEnter(act) {
  return (event) => {
    if (event.key !== "Enter" || event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    act();
  };
}

function field(id, label, attributes) {
  return el("label", { class: "field", for: id }, el("span", null, label), el("input", { id, autocomplete: "off", ...attributes }));
}

function reasonFields(verb, act, reason, day, needed = verb === "waive") {
  return [
    field("reason", t(needed ? "ask.reason_needed" : "ask.reason"), { type: "text", maxlength: 2000, value: reason, required: needed, onkeydown: onEnter(act) }),
    verb === "waive" && field("expires", t("ask.expires"), { type: "date", required: true, min: todayText(), value: day || todayText(WAIVED_FOR_DAYS), onkeydown: onEnter(act) }),
  ];
}

function typedDecision(verb) {
  return newDecision(verb, byId("reason") ? byId("reason").value.trim() : "", byId("expires") ? byId("expires").value : null);
}

// A problem is said beside the fields, and the first wrong one gets the focus.
function refuseTyped(problem) {
  byId("ask-problem").textContent = t(problem);
  byId(["refusal.reason", "refusal.lacks"].includes(problem) ? "reason" : "expires")?.focus();
}

// `stay`: the case was decided before, and nothing else is opened.
function reasonDialog(entry, verb, stay) {
  const before = review.made.get(keyOf(entry)) || {};
  const act = () => {
    const decision = typedDecision(verb);
    const problem = problemOf(entry, decision, todayText());
    if (problem) return refuseTyped(problem);
    closeDialog("ask-reason");
    if (!stay) return takeDecision(entry, decision);
    decide(review, [[keyOf(entry), decision]]);
    decisionsChanged([keyOf(entry)]);
    return announce(t("decided.reject", { id: brief(entry.case_id) }));
  };
  const again = before.decision === verb ? before : {};
  const lacking = verb === "approve" && entry.lacks;
  openDialog("ask-reason", t(lacking ? "ask.despite" : `ask.${verb === "waive" ? "waive" : "why"}`, { id: brief(entry.case_id) }),
    verb === "approve" && el("p", { id: "ask-replaces" }),
    lacking && el("ul", { id: "ask-lacks", class: "notes" }),
    reasonFields(verb, act, again.reason, again.expires_on, verb === "waive" || Boolean(lacking)),
    el("p", { id: "ask-problem", class: "problem", role: "alert" }),
    dialogButtons("ask-reason", t(lacking ? "ask.approve_despite" : `verb.${verb}`), act));
  byId("reason").focus();
  // The case is open, so its details are at hand.
  if (verb !== "approve") return;
  detailsOf(entry).then((details) => {
    byId("ask-replaces").textContent = replacesText(details, "ask");
    if (lacking) replace(byId("ask-lacks"), (details.lacks || []).map((lack) => el("li", null, say(lack))));
  }).catch(() => {});
}

// How many answers an approval takes away, and how many stand in their place: before it is made ("ask"), or after
// ("decided"), then behind what was said of it.
function replacesText(details, when, said) {
  const [golden, candidate] = [details.golden, details.candidate].map((groups) => (groups || []).reduce((sum, group) => sum + group.passes.length, 0));
  return t(`${when}.${golden ? "replaces" : "becomes"}`, { said, golden: number(golden), candidate: number(candidate) });
}

// Somebody else has decided: theirs is shown, and replaced on purpose only.
function replaceDialog(entry, standing, act) {
  openDialog("ask-over", t("over.title", { id: brief(entry.case_id) }), el("p", null, decisionText(standing)),
    standing.decided_at && el("p", { class: "hint" }, date(Date.parse(standing.decided_at) / 1000)),
    dialogButtons("ask-over", t("over.replace"), () => {
      closeDialog("ask-over");
      act();
    }));
}

function dialogButtons(id, label, act) {
  return el("div", { class: "dialog-buttons" }, button(label, { class: "close act", onclick: act }),
    button(t("ask.cancel"), { class: "bar-button", onclick: () => closeDialog(id) }));
}

// A decision on every case that the list shows: first what it would cover, then one button that says how many.
function bulkDialog(verb) {
  if (!shown.length) {
    announce(t("search.nothing"));
    return;
  }
  openDialog("ask-bulk", t("bulk.title", { count: number(shown.length) }), el("div", { id: "bulk-body" }));
  paintBulk(verb, false, false);
}

const BULK_WORST = 5;

function paintBulk(verb, unseenToo, lackingToo) {
  const bulk = bulkOf(review, shown, verb, unseenToo, lackingToo, (entry) => !unshowable(entry));
  const lacking = lackingToo && bulk.lacking > 0;
  const chosen = new Set(bulk.chosen);
  const worst = report.cases.filter((entry) => chosen.has(entry)).slice(0, BULK_WORST);
  const left = ["errors", "refused", "hidden", "decided", "settled"].filter((name) => bulk[name] > 0);
  const act = () => takeBulk(verb, bulk.chosen);
  const [reason, day] = ["reason", "expires"].map((id) => byId(id)?.value);
  const label = t(`bulk.${verb}`, { count: number(bulk.chosen.length) });
  replace(byId("bulk-body"),
    el("div", { class: "switch", role: "group", "aria-label": t("decide.verbs") }, VERBS.filter((one) => one !== "remove").map((one) =>
      button(t(`verb.${one}`), { "aria-pressed": one === verb ? "true" : "false", onclick: () => repaintBulk(one, unseenToo, lackingToo) }))),
    el("p", { id: "bulk-count", role: "status" }, t("bulk.covers", { count: number(bulk.chosen.length), total: number(shown.length) })),
    verb === "approve" && bulk.chosen.length > 0 && el("p", { id: "bulk-replaces" }, t("bulk.replaces")),
    worst.length > 0 && [el("h3", null, t("bulk.worst", { count: number(worst.length) })),
      el("ol", { class: "bulk-worst" }, worst.map((entry) => el("li", { class: `v-${entry.verdict}` }, verdictMark(entry.verdict), " ",
        el("b", null, brief(entry.case_id)), " ", el("span", null, briefSentenceOf(entry.sentence)))))],
    left.length > 0 && el("ul", { class: "notes" }, left.map((name) => el("li", null, t(`bulk.${name}`, { count: number(bulk[name]) })))),
    bulk.unseen > 0 && el("label", { class: "check" }, el("input", { type: "checkbox", id: "unseen-too", checked: unseenToo,
      onchange: (event) => repaintBulk(verb, event.target.checked, lackingToo) }), " ", t("bulk.unseen", { count: number(bulk.unseen) })),
    bulk.lacking > 0 && el("label", { class: "check" }, el("input", { type: "checkbox", id: "lacking-too", checked: lackingToo,
      onchange: (event) => repaintBulk(verb, unseenToo, event.target.checked) }), " ", t("bulk.lacking", { count: number(bulk.lacking) })),
    (["waive", "reject"].includes(verb) || lacking) && reasonFields(verb, act, reason, day, verb === "waive" || lacking),
    el("p", { id: "ask-problem", class: "problem", role: "alert" }),
    dialogButtons("ask-bulk", label, act));
  byId("ask-bulk").querySelector(".act").disabled = bulk.chosen.length === 0;
}

// The dialog is painted anew; the focus stays on what was used.
function repaintBulk(verb, unseenToo, lackingToo) {
  const focused = document.activeElement.id || document.activeElement.textContent;
  paintBulk(verb, unseenToo, lackingToo);
  (byId(focused) || [...byId("ask-bulk").querySelectorAll("button")].find((one) => one.textContent === focused))?.focus();
}

function takeBulk(verb, entries) {
  if (!entries.length) return;
  const decision = typedDecision(verb);
  const problem = entries.map((entry) => problemOf(entry, decision, todayText())).find(Boolean);
  if (problem) {
    refuseTyped(problem);
    return;
  }
  closeDialog("ask-bulk");
  const keys = entries.map(keyOf);
  decide(review, keys.map((key) => [key, decision]));
  decisionsChanged(keys);
  announce(t("bulk.done", { count: number(keys.length), verb: t(`done.${verb}`) }));
}

function exportDialog() {
  const { lines, left } = decisionCommands(review, report, deciding.reviewer);
  const own = ownDecisions(review, report.cases).length;
  openDialog("export", t("export.title"),
    el("p", null, own ? t("export.count", { count: number(own) }) : t("export.nothing")),
    field("reviewer", t("export.reviewer"), { type: "text", maxlength: 200, value: deciding.reviewer, required: true,
      oninput: (event) => nameTyped(event.target.value), onkeydown: onEnter(downloadDecisions) }),
    el("p", { id: "ask-problem", class: "problem", role: "alert" }),
    el("div", { class: "dialog-buttons" }, button(t("export.download"), { class: "close act", disabled: !own, onclick: downloadDecisions }),
      button(t("export.copy"), { class: "bar-button", disabled: !lines.length, onclick: copyCommands })),
    el("p", { class: "hint" }, t("export.then")), el("code", { class: "command" }, "promptreg review apply ", fileName()),
    left > 0 && el("p", { class: "notice" }, t("export.left", { count: number(left) })),
    el("textarea", { id: "commands", readonly: true, rows: 4, hidden: true, "aria-label": t("export.copy") }),
    el("h3", null, t("import.title")),
    el("label", { class: "field", for: "import-file" }, el("span", null, t("import.label")),
      el("input", { id: "import-file", type: "file", accept: ".json,application/json", onchange: (event) => importChosen(event.target) })),
    el("p", { id: "import-said", role: "status" }),
    el("label", { class: "check" }, el("input", { type: "checkbox", checked: deciding.onward, onchange: (event) => {
      deciding.onward = event.target.checked;
      remember("onward", deciding.onward ? "on" : "off");
    } }), " ", t("decide.onward")),
    button(t("help.close"), { class: "bar-button", onclick: () => closeDialog("export") }));
}

function nameTyped(name) {
  deciding.reviewer = name.trim();
  remember("reviewer", deciding.reviewer);
}

// Nobody applies a decision without a name; it is asked once and then known.
function nameMissing() {
  if (deciding.reviewer) return false;
  byId("ask-problem").textContent = t("export.name");
  byId("reviewer").focus();
  return true;
}

function fileName() {
  return `${String(report.run_id).replace(/[^\w.-]+/g, "_").slice(0, 80)}.decisions.json`;
}

function downloadDecisions() {
  if (nameMissing()) return;
  const text = `${JSON.stringify(decisionsFile(review, report, deciding.reviewer, nowText()), null, 1)}\n`;
  const link = document.createElement("a");
  link.download = fileName();
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  exported(t("export.done", { file: fileName() }));
}

function exported(said) {
  markExported(review);
  keeping.save([]);
  paintBar();
  announce(said);
  byId("import-said").textContent = said;
}

// Where the clipboard is refused, the commands stand selected in a box of their own.
async function copyCommands() {
  if (nameMissing()) return;
  const { lines } = decisionCommands(review, report, deciding.reviewer);
  const box = byId("commands");
  box.value = lines.join("\n");
  try {
    await navigator.clipboard.writeText(box.value);
    exported(t("export.copied", { count: number(lines.length) }));
  } catch {
    box.hidden = false;
    box.focus();
    box.select();
    exported(t("export.by_hand"));
  }
}

// The same file, repaired, must be a new choice: a browser says nothing when a name is chosen again.
async function importChosen(input) {
  const file = input.files[0];
  if (!file) return;
  await importFile(file);
  input.value = "";
}

async function importFile(file) {
  const said = byId("import-said");
  const read = file.size > LARGEST_IMPORT ? { problem: ["import.large", {}] }
    : readDecisions(await file.arrayBuffer(), report, entryByKey, todayText());
  if (read.problem) {
    const [key, values] = read.problem;
    said.textContent = [t(key, Object.fromEntries(Object.entries(values || {}).map(([name, value]) => [name, readable(value)]))),
      read.refusal && t(read.refusal)].filter(Boolean).join(" ");
    return;
  }
  decide(review, read.pairs);
  for (const [key, decision] of read.pairs) review.exported.set(key, decision);
  decisionsChanged(read.pairs.map(([key]) => key));
  said.textContent = t("import.done", { count: number(read.pairs.length), name: readable(read.reviewer) });
}
