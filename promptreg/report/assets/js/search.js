// Search in the requests and answers, chunk by chunk, so that the page stays alive. What was found is kept per word: a
// facet or another order asks nothing again.

const WORDS_KEPT = 24;
const BREATH_MS = 24;
const textHits = new Map();
const unreadable = new Map();
let scan = null;

function hitsKey(field, value) {
  return `${field}\u0000${value}`;
}

// Whether a case's texts have a value, as far as is known. What is to be excluded waits until it is known not to have it.
function textFound(field, value, entry, excluded) {
  if (entry.chunk === undefined) return false;
  const hits = textHits.get(hitsKey(field, value));
  if (!hits || !hits.read.has(entry.chunk) || unreadable.has(entry.chunk)) return excluded;
  return hits.counts.has(entry);
}

// The texts of a case in which a field searches, as one.
function textOf(details, field) {
  const answers = (groups) => (groups || []).flatMap((group) => [group.content || "", ...(group.reasonings || []).map((reasoning) => reasoning.text),
    ...(group.tool_calls || []).map((call) => `${call.name} ${call.arguments}`)]);
  const of = {
    golden: () => answers(details.golden),
    candidate: () => answers(details.candidate),
    prompt: () => (details.messages || []).map((message) => typeof message.content === "string" ? message.content : JSON.stringify(message)),
    faults: () => (details.faults || []).flatMap((fault) => [bothLanguages(fault.sentence), fault.where || "", bothLanguages(fault.evidence)]),
  };
  return folded((field === "text" ? Object.values(of) : [of[field]]).flatMap((texts) => texts()).join("\u0000"));
}

function occurrences(text, value) {
  let count = 0;
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + value.length)) count += 1;
  return count;
}

const TEXT_FIELDS = ["text", "prompt", "golden", "candidate"];

// The words of a query whose texts were not read to the end.
function wordsToRead(terms) {
  const words = terms.filter((term) => TEXT_FIELDS.includes(term.field))
    .flatMap((term) => term.values.map((value) => ({ field: term.field, value, key: hitsKey(term.field, value) })));
  return words.filter((word) => {
    const hits = textHits.get(word.key);
    return !hits || hits.read.size < chunkNumbers().length;
  });
}

let numbers = null;
function chunkNumbers() {
  numbers ??= [...new Set(report.cases.map((entry) => entry.chunk))].filter((chunk) => chunk !== undefined);
  return numbers;
}

let byChunk = null;
function entriesOf(chunk) {
  if (byChunk === null) {
    byChunk = new Map();
    for (const entry of report.cases) {
      if (!byChunk.has(entry.chunk)) byChunk.set(entry.chunk, []);
      byChunk.get(entry.chunk).push(entry);
    }
  }
  return byChunk.get(chunk);
}

function stopScan() {
  if (scan) scan.stopped = true;
  scan = null;
}

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

// Reads all chunks for these words. `told` is called now and then with how far it is, and at the end, unless stopped.
async function readTexts(words, told) {
  stopScan();
  const mine = { stopped: false, done: 0, total: chunkNumbers().length };
  scan = mine;
  for (const { key } of words) if (!textHits.has(key)) textHits.set(key, { counts: new Map(), read: new Set() });
  for (const key of [...textHits.keys()].slice(0, Math.max(0, textHits.size - WORDS_KEPT))) textHits.delete(key);
  const wanted = chunkNumbers().filter((chunk) => words.some(({ key }) => textHits.has(key) && !textHits.get(key).read.has(chunk)));
  mine.done = mine.total - wanted.length;
  const unpacked = (chunk) => (chunk === undefined ? null : Promise.resolve(chunks.get(chunk) || unpack(chunk)).catch((error) => error));
  let breath = performance.now();
  let next = unpacked(wanted[0]);
  for (const [index, chunk] of wanted.entries()) {
    const details = await next;
    if (mine.stopped) return;
    // The browser unpacks the next part beside our reading of this one.
    next = unpacked(wanted[index + 1]);
    readChunk(chunk, details, words);
    mine.done += 1;
    if (performance.now() - breath > BREATH_MS) {
      told(mine);
      await pause(0);
      breath = performance.now();
    }
    if (mine.stopped) return;
  }
  scan = null;
  told(mine);
}

function readChunk(chunk, details, words) {
  for (const { key } of words) textHits.get(key)?.read.add(chunk);
  if (details instanceof Error) {
    unreadable.set(chunk, details.message);
    return;
  }
  unreadable.delete(chunk);
  for (const entry of entriesOf(chunk)) {
    const texts = {};
    for (const { field, value, key } of words) {
      texts[field] ??= textOf(details[entry.position], field);
      const count = occurrences(texts[field], value);
      if (count) textHits.get(key)?.counts.set(entry, count);
    }
  }
}

// How often the words that are wished for stand in the texts of these cases.
function hitsIn(entries, terms) {
  const counts = terms.filter((term) => !term.not && TEXT_FIELDS.includes(term.field))
    .flatMap((term) => term.values.map((value) => textHits.get(hitsKey(term.field, value)))).filter(Boolean);
  return entries.reduce((sum, entry) => sum + counts.reduce((own, hits) => own + (hits.counts.get(entry) || 0), 0), 0);
}
