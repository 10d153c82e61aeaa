// The search box, in capital or small letters: words, "quoted words", verdict:, tag:, suite:, fault:, cause:2, noise>2, and a minus to exclude.

function parseQuery(text) {
  const terms = [];
  const pattern = /(-)?(?:(verdict|tag|suite|fault|cause|id)[:：])?(?:"([^"]*)"?|(\S+))/giu;
  for (const [, minus, field, quoted, bare] of text.matchAll(pattern)) {
    const value = (quoted === undefined ? bare : quoted).normalize("NFC").toLowerCase();
    const bound = quoted === undefined && !field && /^noise([<>])(\d+(?:\.\d+)?)$/.exec(value);
    if (bound) terms.push({ field: "noise", more: bound[1] === ">", bound: Number(bound[2]), not: Boolean(minus) });
    else if (value) terms.push({ field: (field || "text").toLowerCase(), value, not: Boolean(minus) });
  }
  return terms;
}

function contains(text, value) {
  return String(text).normalize("NFC").toLowerCase().includes(value);
}

const FIELDS = {
  verdict: (entry, term) => entry.verdict === term.value || contains(known("verdict", entry.verdict), term.value),
  tag: (entry, term) => (entry.tags || []).some((tag) => contains(tag, term.value)),
  suite: (entry, term) => contains(entry.suite, term.value),
  fault: (entry, term) => (entry.faults || []).some((kind) => contains(kind, term.value)),
  cause: (entry, term) => (entry.causes || []).includes(Number(term.value)),
  id: (entry, term) => contains(entry.case_id, term.value),
  noise: (entry, term) => entry.noise_multiple !== undefined
    && (term.more ? entry.noise_multiple > term.bound : entry.noise_multiple < term.bound),
  text: (entry, term) => [entry.case_id, entry.preview, ...(entry.tags || []), ...(entry.faults || []), say(entry.sentence),
    ...causeTitles(entry)].some((text) => contains(text, term.value)),
};

// What the page says a case has: its causes, with the other names of each.
function causeTitles(entry) {
  const causes = (entry.causes || []).map((index) => (report.causes || [])[index - 1]).filter(Boolean);
  return causes.flatMap((cause) => [cause.title, ...(cause.also || [])]).map(say);
}

// By the list alone. With `details` the answers and the request are searched too.
function matches(entry, terms, details) {
  return terms.every((term) => {
    const found = FIELDS[term.field](entry, term)
      || (term.field === "text" && details !== undefined && textsOf(details).some((text) => contains(text, term.value)));
    return found !== term.not;
  });
}

function textsOf(details) {
  const answers = [...(details.golden || []), ...(details.candidate || [])];
  return [
    ...answers.flatMap((group) => [group.content || "", ...(group.reasonings || []).map((reasoning) => reasoning.text),
      ...(group.tool_calls || []).map((call) => `${call.name} ${call.arguments}`)]),
    ...(details.faults || []).flatMap((fault) => [say(fault.sentence), fault.where || "", fault.evidence || ""]),
    ...(details.messages || []).map((message) => typeof message.content === "string" ? message.content
      : JSON.stringify(message)),
  ];
}

function needsDetails(terms) {
  return terms.some((term) => term.field === "text");
}
