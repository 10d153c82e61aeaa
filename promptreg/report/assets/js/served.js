// Only in a page that `promptreg review serve` gives out: decisions go to the store at once, and those of others come back.

const POLL_MS = 2000;
const serving = { version: "", unsent: new Map(), sending: false, own: new Set() };

function servedAt() {
  return `decisions${location.search}`;
}

function saveOnServer(keys) {
  // What is replaced is what this page shows now; while one's own is on its way, what that replaces.
  for (const key of keys) {
    const over = serving.unsent.has(key) ? serving.unsent.get(key).over : shownAt(key);
    serving.unsent.set(key, { decision: review.made.get(key) || null, over });
  }
  keepSteps();
  send();
}

function shownAt(key) {
  return (review.base.get(key) || {}).decided_at || null;
}

// The decisions are the store's; how to take one's own back outlives the page in the browser, where that keeps anything.
const OWN_KEPT = 10_000;
const STEPS = `steps.${report.report_id}`;

function keepSteps() {
  remember(STEPS, JSON.stringify({ ...stepsOf(review), own: [...serving.own].slice(-OWN_KEPT) }));
}

function restoreKeptSteps() {
  try {
    const stored = JSON.parse(remembered(STEPS));
    if (!isObject(stored)) return;
    restoreSteps(review, stored, entryByKey);
    for (const at of Array.isArray(stored.own) ? stored.own : []) serving.own.add(at);
  } catch {
    // What cannot be read is as if it was not there.
  }
}

// Everything that is not saved yet goes in one request; what is decided meanwhile goes in the next.
async function send() {
  if (serving.sending || !serving.unsent.size) return;
  serving.sending = true;
  const batch = new Map(serving.unsent);
  const decisions = [...batch].map(([key, { decision, over }]) => {
    const { suite, case_id } = entryByKey.get(key);
    return { suite, case_id, decision: decision ? decision.decision : "withdraw", reason: (decision && decision.reason) || "",
      expires_on: (decision && decision.expires_on) || null, reviewer: (decision && decision.reviewer) || "", over };
  });
  try {
    const answer = await fetch(servedAt(), { method: "POST", headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ report_id: report.report_id, reviewer: deciding.reviewer, decisions }) });
    const said = await answer.json();
    if (!answer.ok) {
      for (const key of batch.keys()) review.made.delete(key);
      deciding.notice = "";
      announce(say(said));
    }
    for (const [key, sent] of batch) if (serving.unsent.get(key) === sent) serving.unsent.delete(key);
    if (answer.ok) {
      takeOver(said);
      saved([...batch.keys()]);
    } else poll(true);
  } catch {
    deciding.notice = "served.gone";
  }
  serving.sending = false;
  paintDecisions();
}

// What was just saved is one's own: it is replaced without asking, and what is on its way replaces it.
function saved(keys) {
  for (const key of keys) {
    if (shownAt(key)) serving.own.add(shownAt(key));
    if (serving.unsent.has(key)) serving.unsent.get(key).over = shownAt(key);
  }
  keepSteps();
}

// What the store holds now is what stands; of this page's own only what is still on its way.
function takeOver(said) {
  deciding.notice = "";
  if (said.version === serving.version) return false;
  serving.version = said.version;
  review.base = new Map(said.decisions.map((each) => [keyOf(each), each]));
  for (const key of [...review.made.keys()]) if (!serving.unsent.has(key)) review.made.delete(key);
  return true;
}

async function poll(once) {
  try {
    const answer = await fetch(`${servedAt()}&known=${encodeURIComponent(serving.version)}`);
    if (!answer.ok) throw new Error(answer.statusText);
    const said = await answer.json();
    const before = deciding.notice;
    if (takeOver(said) || before) paintDecisions();
    send();
  } catch {
    if (deciding.notice !== "served.gone") {
      deciding.notice = "served.gone";
      paintBar();
    }
  }
  if (once !== true) setTimeout(poll, POLL_MS);
}

function startServed() {
  review.served = true;
  deciding.reviewer = remembered("reviewer") || report.served.reviewer;
  deciding.onward = remembered("onward") !== "off";
  restoreKeptSteps();
  poll();
}

Object.assign(keeping, { start: startServed, save: saveOnServer, open: () => serving.unsent.size, openWord: "decide.not_saved",
  own: (decision) => serving.own.has(decision.decided_at) });
