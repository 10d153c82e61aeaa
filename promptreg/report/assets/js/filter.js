// Which cases a query leaves, and how many each facet would leave: one pass over the list.

const FACETS = ["verdict", "tag", "cause", "fault", "channel", "check", "suite", "decision", "was", "since"];
const channelNames = [...new Set(report.cases.flatMap((entry) => Object.keys(entry.z || {})))].sort();
const listTexts = new WeakMap();

// Which words the grammar knows: verdicts and decisions by their names in both languages.
const CHOICES = {
  verdict: choicesOf("verdict", VERDICTS),
  decision: choicesOf("done", ["none", "expired", ...VERBS]),
  was: { ...choicesOf("verdict", VERDICTS), ...choicesOf("was", ["none"]) },
  since: { ...choicesOf("since", CHANGES), newly: "newly_failing", still: "still_failing" },
  channel: channelNames.map(folded),
  short: VERDICTS,
};

function choicesOf(group, names) {
  const words = names.map((name) => [name, name]);
  for (const catalogue of Object.values(catalogues)) {
    words.push(...names.filter((name) => catalogue[`${group}.${name}`]).map((name) => [folded(catalogue[`${group}.${name}`]), name]));
  }
  return Object.fromEntries(words);
}

// What the page says a case has: its causes, with the other names of each.
function causeTitles(entry) {
  const causes = (entry.causes || []).map((index) => (report.causes || [])[index - 1]).filter(Boolean);
  return causes.flatMap((cause) => [cause.title, ...(cause.also || [])]);
}

function bothLanguages(sentence) {
  return sentence ? `${sentence.en || ""}\u0000${sentence.zh || ""}` : "";
}

// All that the list knows of a case, as one text to search in.
function listText(entry) {
  let text = listTexts.get(entry);
  if (text === undefined) {
    text = folded([entry.case_id, entry.preview, ...(entry.tags || []), ...(entry.faults || []), ...(entry.checks || []),
      ...[entry.sentence, ...causeTitles(entry)].map(bothLanguages)].join("\u0000"));
    listTexts.set(entry, text);
  }
  return text;
}

function decisionName(entry) {
  return nowOf(review, decisionOn(review, keyOf(entry)));
}

// The values that a case has for a facet.
const FACET_VALUES = {
  verdict: (entry) => [entry.verdict],
  tag: (entry) => entry.tags || [],
  cause: (entry) => entry.causes || [],
  fault: (entry) => entry.faults || [],
  channel: (entry) => Object.keys(entry.z || {}).filter((name) => entry.z[name] > MOVED_Z),
  check: (entry) => entry.checks || [],
  suite: (entry) => [entry.suite],
  decision: (entry) => [decisionName(entry)],
  was: (entry) => report.against ? [wasOf(entry)] : [],
  since: (entry) => report.against ? [sinceOf(entry)] : [],
};

const named = (list, term) => (list || []).some((name) => term.values.some((wish) => isNamed(name, wish)));
const inText = (field) => (entry, term) => term.values.some((value) => textFound(field, value, entry, term.not));

const MATCHES = {
  verdict: (entry, term) => term.values.includes(entry.verdict),
  decision: (entry, term) => term.values.includes(decisionName(entry)),
  was: (entry, term) => term.values.includes(wasOf(entry)),
  since: (entry, term) => term.values.includes(sinceOf(entry)),
  tag: (entry, term) => named(entry.tags, term),
  suite: (entry, term) => named([entry.suite], term),
  fault: (entry, term) => named(entry.faults, term),
  cause: (entry, term) => (entry.causes || []).some((index) => term.values.includes(index)),
  channel: (entry, term) => term.values.some((value) => {
    const z = channelNames.find((name) => folded(name) === value.name && entry.z && name in entry.z);
    return z !== undefined && compares(entry.z[z], value);
  }),
  check: (entry, term) => (entry.checks || []).some((label) => term.values.some((value) => isLike(label, value))),
  id: (entry, term) => term.values.some((value) => isLike(entry.case_id, value)),
  noise: (entry, term) => compares(entry.noise_multiple, term),
  size: (entry, term) => compares(entry.size, term),
  prompt: inText("prompt"),
  golden: inText("golden"),
  candidate: inText("candidate"),
  text: (entry, term) => term.values.some((value) => listText(entry).includes(value) || textFound("text", value, entry, term.not)),
};

// A case has one verdict and one suite: several terms for them mean "or", like commas do.
const SINGLE = ["verdict", "suite", "decision", "was", "since"];

function joined(terms) {
  const rest = terms.filter((term) => term.not || !SINGLE.includes(term.field));
  for (const field of SINGLE) {
    const values = valuesOf(terms, field);
    if (values.length) rest.push({ field, values, not: false });
  }
  return rest;
}

// `found`: the cases in the list's order. `counts`: facet -> value -> cases, as if nothing was chosen in that facet.
function filtered(entries, terms, facets) {
  const wanted = joined(terms);
  const counts = new Map(facets.map((facet) => [facet, new Map()]));
  const found = [];
  for (const entry of entries) {
    let missed = null;
    let lost = false;
    for (const term of wanted) {
      if (MATCHES[term.field](entry, term) !== term.not) continue;
      lost = term.not || missed !== null && missed !== term.field;
      missed = term.field;
      if (lost) break;
    }
    if (lost) continue;
    if (missed === null) found.push(entry);
    for (const [facet, byValue] of counts) {
      if (missed !== null && missed !== facet) continue;
      for (const value of FACET_VALUES[facet](entry)) byValue.set(value, (byValue.get(value) || 0) + 1);
    }
  }
  return { found, counts };
}
