// What was decided, as plain data without the page: the report's own decisions (base), those made since (made), the
// steps back and forth, and the forms in which decisions leave and enter. A decision is { decision, reviewer, reason,
// expires_on, decided_at }; null in `made` is one that was taken back.

const DECISIONS_SCHEMA = "promptreg.decisions/1";
const VERBS = ["approve", "reject", "waive", "defer", "remove"];
const WAITING = new Set(["fail", "drift", "error", "missing", "new"]);
const OPEN = new Set(["none", "defer", "expired"]);
const WAIVABLE = new Set(["fail", "drift"]);
const LARGEST_IMPORT = 32 * 1024 * 1024;
const NAMES_A_COMMAND = 40;

// `today`: the day in UTC as text, asked for anew: a page may stay open for days.
function newReview(cases, today = () => "") {
  const base = new Map();
  for (const entry of cases) if (entry.decision) base.set(keyOf(entry), entry.decision);
  return { today, base, made: new Map(), exported: new Map(), seen: new Set(), undo: [], redo: [] };
}

function decisionOn(review, key) {
  const own = review.made.get(key);
  return (own === undefined ? review.base.get(key) : own) || null;
}

// What a decision comes to now: a waiver past its last day decides nothing any more.
function nowOf(review, decision) {
  const past = decision && decision.decision === "waive" && decision.expires_on && decision.expires_on < review.today();
  return past ? "expired" : decision ? decision.decision : "none";
}

function undecided(review, entry) {
  return waits(review, entry) && OPEN.has(nowOf(review, decisionOn(review, keyOf(entry))));
}

// Whether a case is one that somebody has to decide on; one that is waived is so again when its waiver is past.
function waits(review, entry) {
  return WAITING.has(entry.verdict) || entry.verdict === "waived" && nowOf(review, review.base.get(keyOf(entry))) === "expired";
}

// Whether a case stands under a waiver, which another one may renew.
function isWaived(entry) {
  return entry.verdict === "waived" && Boolean(entry.decision) && entry.decision.decision === "waive";
}

// Why a decision cannot be made on a case, as a key of the catalogue; null where it can. The same rules as `review apply`.
function refusalOf(entry, verb) {
  if (verb === "approve" || verb === "waive") {
    if (entry.verdict === "error" || entry.unanswered) return "refusal.error";
  }
  if (verb === "approve" && !entry.candidate_sha256) return entry.verdict === "missing" ? "refusal.missing" : "refusal.nothing";
  if (verb === "waive" && !WAIVABLE.has(entry.verdict) && !isWaived(entry)) return "refusal.waive";
  if (verb === "remove" && entry.verdict !== "missing") return "refusal.remove";
  return null;
}

function isDay(text) {
  if (typeof text !== "string" || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().slice(0, 10) === text;
}

function problemOf(entry, decision, today) {
  const refusal = refusalOf(entry, decision.decision);
  if (!refusal && decision.decision === "approve" && entry.lacks && !(decision.reason || "").trim()) return "refusal.lacks";
  if (refusal || decision.decision !== "waive") return refusal;
  if (!(decision.reason || "").trim()) return "refusal.reason";
  if (!isDay(decision.expires_on)) return "refusal.expiry";
  return decision.expires_on < today ? "refusal.past" : null;
}

function alike(a, b) {
  if (!a || !b) return !a && !b;
  return a.decision === b.decision && (a.reason || "") === (b.reason || "") && (a.expires_on || null) === (b.expires_on || null);
}

function setMade(review, key, decision) {
  if (decision === undefined) review.made.delete(key);
  else review.made.set(key, decision);
}

// One step, however many cases it decides on: it is undone at once. `pairs`: [key, decision].
function decide(review, pairs) {
  review.undo.push(pairs.map(([key, after]) => {
    // On a server what is there now is everybody's, so a step back must say what it was; in a file it only goes away.
    const before = review.served ? decisionOn(review, key) : review.made.get(key);
    setMade(review, key, after);
    return { key, before, after };
  }));
  review.redo = [];
}

// A step back or forth. Where somebody else has decided since, their decision stays. Gives the keys that changed.
function stepReview(review, from, to, is, becomes) {
  const step = review[from].pop();
  if (!step) return [];
  review[to].push(step);
  const base = (key, decision) => (decision === undefined ? review.base.get(key) : decision);
  const changed = step.filter((each) => alike(decisionOn(review, each.key), base(each.key, each[is])));
  for (const each of changed) setMade(review, each.key, each[becomes]);
  return changed.map((each) => each.key);
}

function undoDecision(review) {
  return stepReview(review, "undo", "redo", "after", "before");
}

function redoDecision(review) {
  return stepReview(review, "redo", "undo", "before", "after");
}

function notExported(review) {
  let count = 0;
  for (const [key, decision] of review.made) if (!alike(decision, review.exported.get(key))) count += 1;
  for (const key of review.exported.keys()) if (!review.made.has(key)) count += 1;
  return count;
}

function progressOf(review, cases) {
  const waiting = cases.filter((entry) => waits(review, entry));
  // Decisions may be made on cases that wait for none; they are not among the done of the total.
  const others = cases.filter((entry) => !waits(review, entry) && review.made.get(keyOf(entry))).length;
  return { total: waiting.length, done: waiting.filter((entry) => !undecided(review, entry)).length, others, open: notExported(review) };
}

// The next case that waits, after `current` and round to it again.
function nextUndecided(review, entries, current) {
  const from = entries.indexOf(current) + 1;
  const found = (entry) => entry !== current && undecided(review, entry);
  return entries.slice(from).find(found) || entries.slice(0, from).find(found) || null;
}

// What a decision on a whole list would cover: cases that wait, never an error, and what was not displayed only when asked.
// `showable` says of a case whether the page can show its answers: others are never approved.
// What is wrong by itself is approved only when asked, too.
function bulkOf(review, entries, verb, unseenToo, lackingToo, showable) {
  const open = entries.filter((entry) => undecided(review, entry));
  const failed = (entry) => entry.verdict === "error" || entry.unanswered > 0;
  const allowed = open.filter((entry) => !failed(entry) && !refusalOf(entry, verb));
  const possible = allowed.filter((entry) => verb !== "approve" || showable(entry));
  const displayed = possible.filter((entry) => review.seen.has(keyOf(entry)));
  const offered = unseenToo ? possible : displayed;
  const lacking = (entry) => verb === "approve" && entry.lacks > 0;
  const errors = open.filter(failed).length;
  const decided = entries.filter((entry) => !undecided(review, entry) && decisionOn(review, keyOf(entry))).length;
  return {
    chosen: lackingToo ? offered : offered.filter((entry) => !lacking(entry)), lacking: offered.filter(lacking).length,
    unseen: possible.length - displayed.length, errors,
    refused: open.length - allowed.length - errors, hidden: allowed.length - possible.length,
    decided, settled: entries.length - open.length - decided,
  };
}

function ownDecisions(review, cases) {
  const own = (entry) => (review.served ? decisionOn(review, keyOf(entry)) : review.made.get(keyOf(entry)));
  return cases.map((entry) => [entry, own(entry)]).filter(([, decision]) => decision);
}

function decisionsFile(review, about, reviewer, now) {
  return {
    schema: DECISIONS_SCHEMA, report_id: about.report_id, run_id: about.run_id, baseline: about.source.name,
    exported_at: now, reviewer,
    decisions: ownDecisions(review, about.cases).map(([entry, decision]) => ({
      suite: entry.suite, case_id: entry.case_id, target: about.target.name,
      golden_sha256: entry.golden_sha256 || null, candidate_sha256: entry.candidate_sha256 || null,
      decision: decision.decision, reason: decision.reason || "", expires_on: decision.expires_on || null,
      decided_at: decision.decided_at,
    })),
  };
}

// A served page saves what it exports anyway.
function markExported(review) {
  review.exported = new Map([...review.made].filter(([, decision]) => decision));
}

// A word for a POSIX shell and PowerShell; null where control characters would act on the terminal that it is pasted into.
function shellWord(text) {
  if (/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/.test(text)) return null;
  return /^[\w./:@%+=,-]+$/.test(text) && text[0] !== "-" ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

// The same decisions as command lines. `left`: how many cannot be written as such.
function decisionCommands(review, about, reviewer) {
  const groups = new Map();
  let left = 0;
  for (const [entry, decision] of ownDecisions(review, about.cases)) {
    const words = [`${entry.suite}/${entry.case_id}`, (decision.reason || "").replace(/\s+/g, " ").trim()].map(shellWord);
    if (words.includes(null)) {
      left += 1;
      continue;
    }
    const options = [`review decide ${decision.decision}`, decision.reason ? `--reason ${words[1]}` : "",
      decision.expires_on ? `--until ${decision.expires_on}` : ""];
    const name = JSON.stringify(options);
    if (!groups.has(name)) groups.set(name, { options, names: [] });
    groups.get(name).names.push(words[0]);
  }
  const lines = [];
  const who = reviewer && shellWord(reviewer) ? `--reviewer ${shellWord(reviewer)}` : "";
  for (const { options: [verb, ...rest], names } of groups.values()) {
    for (let from = 0; from < names.length; from += NAMES_A_COMMAND) {
      lines.push(["promptreg", verb, `--run ${shellWord(about.run_id) || "RUN"}`, ...rest, who, "--write", "--",
        ...names.slice(from, from + NAMES_A_COMMAND)].filter(Boolean).join(" "));
    }
  }
  return { lines, left };
}

const FILE_KEYS = ["schema", "report_id", "run_id", "baseline", "exported_at", "reviewer", "decisions"];
const ENTRY_KEYS = ["suite", "case_id", "target", "golden_sha256", "candidate_sha256", "decision", "reason", "expires_on", "decided_at"];
const OPTIONAL_KEYS = new Set(["reason", "expires_on"]);

function wrongKey(value, keys) {
  return Object.keys(value).find((key) => !keys.includes(key)) || keys.find((key) => !OPTIONAL_KEYS.has(key) && !(key in value));
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// A decisions file of this very report, all of it or nothing: { pairs, reviewer }, or { problem: [catalogue key, values] }.
// Bytes of another encoding are refused: read as UTF-8 they would be garbled names and reasons.
function readDecisions(bytes, about, known, today) {
  const wrong = (key, values) => ({ problem: [`import.${key}`, values] });
  if (bytes.byteLength > LARGEST_IMPORT) return wrong("large");
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return wrong("encoding");
  }
  let file;
  try {
    file = JSON.parse(text);
  } catch {
    return wrong("json");
  }
  if (!isObject(file) || file.schema !== DECISIONS_SCHEMA) return wrong("schema", { schema: DECISIONS_SCHEMA });
  const key = wrongKey(file, FILE_KEYS);
  if (key !== undefined) return wrong("key", { key });
  if (file.report_id !== about.report_id || file.run_id !== about.run_id) return wrong("other", { run: String(file.run_id) });
  if (typeof file.reviewer !== "string" || !Array.isArray(file.decisions)) return wrong("damaged", { index: 0 });
  const pairs = new Map();
  for (const [index, each] of file.decisions.entries()) {
    const at = { index: index + 1, id: isObject(each) ? String(each.case_id) : "" };
    if (!isObject(each) || wrongKey(each, ENTRY_KEYS) !== undefined || !VERBS.includes(each.decision)
      || ![each.suite, each.case_id, each.decided_at].every((one) => typeof one === "string") || Number.isNaN(Date.parse(each.decided_at))
      || ![each.reason, each.expires_on].every((one) => one === undefined || one === null || typeof one === "string")
      || each.expires_on && !isDay(each.expires_on)) return wrong("damaged", at);
    const entry = known.get(keyOf(each));
    if (!entry || each.target !== about.target.name || each.golden_sha256 !== (entry.golden_sha256 || null)
      || each.candidate_sha256 !== (entry.candidate_sha256 || null)) return wrong("moved", at);
    const problem = problemOf(entry, each, today);
    if (problem) return { problem: ["import.refused", at], refusal: problem };
    pairs.set(keyOf(each), { decision: each.decision, reviewer: file.reviewer, reason: (each.reason || "").trim(),
      expires_on: each.expires_on || null, decided_at: each.decided_at });
  }
  return { pairs: [...pairs], reviewer: file.reviewer };
}

// For the browser's storage. Hashes are left out: the storage's name has the report's identity, which is made of them.
function packReview(review) {
  return JSON.stringify({ made: [...review.made], exported: [...review.exported], seen: [...review.seen], ...stepsOf(review) });
}

// What can be taken back and done again, after the page was loaded anew too.
function stepsOf(review) {
  return { undo: review.undo, redo: review.redo };
}

function restoreSteps(review, stored, known) {
  const decision = (each) => each === undefined || each === null || isObject(each) && VERBS.includes(each.decision);
  const whole = (step) => Array.isArray(step) && step.length > 0
    && step.every((each) => isObject(each) && known.has(each.key) && decision(each.before) && decision(each.after));
  for (const name of ["undo", "redo"]) review[name] = (Array.isArray(stored[name]) ? stored[name] : []).filter(whole);
}

// What cannot be read is as if it was not there: nobody but this page writes it.
function unpackReview(review, text, known) {
  let stored;
  try {
    stored = JSON.parse(text);
  } catch {
    return;
  }
  const pairs = (list) => (Array.isArray(list) ? list : []).filter((each) => Array.isArray(each) && known.has(each[0])
    && isObject(each[1]) && !problemOf(known.get(each[0]), each[1], "") && VERBS.includes(each[1].decision)
    && typeof each[1].decided_at === "string");
  if (!isObject(stored)) return;
  review.made = new Map(pairs(stored.made));
  review.exported = new Map(pairs(stored.exported));
  restoreSteps(review, stored, known);
  for (const key of Array.isArray(stored.seen) ? stored.seen : []) if (known.has(key)) review.seen.add(key);
}
