// What the reader chose. The case and the filter live in the address, so that a link leads to the same place.

const VIEWS = ["side", "inline", "golden", "candidate"];
const state = {
  language: "en", theme: "auto", view: "side", keys: true,
  open: null, query: "", sort: "severity", golden: null, candidate: null, unfolded: false,
};

// Storage may be missing or may throw (file:, private windows): then choices last as long as the page.
function remember(name, value) {
  try {
    localStorage.setItem(`promptreg.${name}`, value);
  } catch {
    // The choice still holds in memory.
  }
}

function remembered(name) {
  try {
    return localStorage.getItem(`promptreg.${name}`);
  } catch {
    return null;
  }
}

function restoreChoices() {
  const language = remembered("language") || (report.language !== "auto" && report.language);
  const wanted = language || (navigator.language || "en").slice(0, 2);
  state.language = wanted === "zh" ? "zh" : "en";
  state.theme = ["light", "dark"].includes(remembered("theme")) ? remembered("theme") : "auto";
  state.view = VIEWS.includes(remembered("view")) ? remembered("view") : "side";
  state.keys = remembered("keys") !== "off";
}

function addressOf(entry) {
  const address = new URLSearchParams();
  if (entry) {
    address.set("suite", entry.suite);
    address.set("case", entry.case_id);
  }
  if (state.query) address.set("q", state.query);
  if (state.sort !== SORTS[0]) address.set("sort", state.sort);
  return `#${address}`;
}

// The view is written where one is, not where one goes: it stays as it was until chosen.
function presentAddress() {
  const address = state.open && !state.open.entry ? location.hash : addressOf(state.open && state.open.entry);
  return state.open && state.open.entry && state.view !== VIEWS[0] ? `${address}&view=${state.view}` : address;
}

function readAddress() {
  const address = new URLSearchParams(location.hash.slice(1));
  state.query = (address.get("q") || "").slice(0, QUERY_LIMIT);
  // Addresses of older reports name the verdicts beside the query.
  const verdicts = (address.get("verdict") || "").split(",").filter((verdict) => VERDICTS.includes(verdict));
  if (verdicts.length) state.query = `${state.query} verdict:${verdicts.join(",")}`.trim();
  state.sort = isSort(address.get("sort")) ? address.get("sort") : SORTS[0];
  if (VIEWS.includes(address.get("view"))) state.view = address.get("view");
  const caseId = address.get("case");
  if (caseId === null) {
    state.open = null;
    return;
  }
  const suite = address.get("suite");
  const found = suite === null ? report.cases.find((entry) => entry.case_id === caseId)
    : entryByKey.get(keyOf({ suite, case_id: caseId }));
  if (!state.open || state.open.entry !== found || !found) openedAnew();
  state.open = { entry: found || null, asked: caseId };
}

function openedAnew() {
  state.golden = null;
  state.candidate = null;
  state.unfolded = false;
}

// What is typed changes the address in place: no step back for each letter. What is chosen is a step.
function updateAddress(step) {
  const address = presentAddress();
  if (address === location.hash) return;
  try {
    history[step ? "pushState" : "replaceState"](null, "", address);
  } catch {
    // Some embeddings forbid it; the page works without.
  }
}
