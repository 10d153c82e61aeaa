// Only in a page that `promptreg review serve` gives out: decisions go to the store at once, and those of others come back.

const POLL_MS = 2000;
const serving = { version: "", unsent: new Map(), sending: false };

function servedAt() {
  return `decisions${location.search}`;
}

function saveOnServer(keys) {
  for (const key of keys) serving.unsent.set(key, review.made.get(key) || null);
  keepSteps();
  send();
}

// The decisions are the store's; how to take one's own back outlives the page in the browser, where that keeps anything.
const STEPS = `steps.${report.report_id}`;

function keepSteps() {
  remember(STEPS, JSON.stringify(stepsOf(review)));
}

function restoreKeptSteps() {
  try {
    const stored = JSON.parse(remembered(STEPS));
    if (isObject(stored)) restoreSteps(review, stored, entryByKey);
  } catch {
    // What cannot be read is as if it was not there.
  }
}

// Everything that is not saved yet goes in one request; what is decided meanwhile goes in the next.
async function send() {
  if (serving.sending || !serving.unsent.size) return;
  serving.sending = true;
  const batch = new Map(serving.unsent);
  const decisions = [...batch].map(([key, decision]) => {
    const { suite, case_id } = entryByKey.get(key);
    return { suite, case_id, decision: decision ? decision.decision : "withdraw", reason: (decision && decision.reason) || "",
      expires_on: (decision && decision.expires_on) || null };
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
    for (const [key, decision] of batch) if (serving.unsent.get(key) === decision) serving.unsent.delete(key);
    if (answer.ok) takeOver(said);
  } catch {
    deciding.notice = "served.gone";
  }
  serving.sending = false;
  paintDecisions();
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

async function poll() {
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
  setTimeout(poll, POLL_MS);
}

function startServed() {
  review.served = true;
  deciding.reviewer = report.served.reviewer;
  deciding.onward = remembered("onward") !== "off";
  restoreKeptSteps();
  poll();
}

Object.assign(keeping, { start: startServed, save: saveOnServer, open: () => serving.unsent.size, openWord: "decide.not_saved" });
