// The report's data: the list of cases at once, the details chunk by chunk when they are asked for.

const report = JSON.parse(byId("report-data").textContent);
report.cases = entriesFrom(report.cases);
const CHUNKS_KEPT = 6;
const chunks = new Map();
const broken = new Set();

// The list lies in the file column by column, as index.py says.
function entriesFrom({ count, columns }) {
  const entries = Array.from({ length: count }, () => ({}));
  for (const [name, column] of Object.entries(columns)) {
    for (let index = 0; index < count; index += 1) {
      const value = Array.isArray(column) ? column[index] : column.values[column.of[index]];
      if (value !== null && value !== undefined) entries[index][name] = value;
    }
  }
  for (const entry of entries) if (entry.candidate_sha256 === "=") entry.candidate_sha256 = entry.golden_sha256;
  return entries;
}

function keyOf(entry) {
  return `${entry.suite}\u0000${entry.case_id}`;
}

const entryByKey = new Map(report.cases.map((entry) => [keyOf(entry), entry]));
const manySuites = report.suites.length > 1;

// The details lie behind this script in the file, so a case may be asked for before they have arrived.
function documentComplete() {
  if (document.readyState !== "loading") return Promise.resolve();
  return new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
}

async function unpack(chunk) {
  if (!byId(`chunk-${chunk}`)) await documentComplete();
  const holder = byId(`chunk-${chunk}`);
  if (!holder) throw new Error(t("details.damaged"));
  if (typeof DecompressionStream === "undefined") throw new Error(t("details.browser"));
  const stream = new Blob([bytesOf(holder.textContent)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const cases = await new Response(stream).json();
  cases.forEach(spellOut);
  return cases;
}

// As in embed.py, which writes this: five digits are four bytes.
const BASE85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%.()*+-;:=,?@^_`{|}~";
const DIGITS = new Uint8Array(128);
for (let digit = 0; digit < BASE85.length; digit += 1) DIGITS[BASE85.charCodeAt(digit)] = digit;

function bytesOf(text) {
  const words = Math.ceil(text.length / 5);
  const missing = words * 5 - text.length;
  const codes = new TextEncoder().encode(text + BASE85.slice(-1).repeat(missing));
  const digit = (at) => DIGITS[codes[at]];
  const view = new DataView(new ArrayBuffer(words * 4));
  for (let word = 0, at = 0; word < words; word += 1, at += 5) {
    view.setUint32(word * 4, (((digit(at) * 85 + digit(at + 1)) * 85 + digit(at + 2)) * 85 + digit(at + 3)) * 85 + digit(at + 4));
  }
  return new Uint8Array(view.buffer, 0, words * 4 - missing);
}

// Least recently used chunks are forgotten; unpacking one again takes milliseconds.
function chunkCases(chunk) {
  const known = chunks.get(chunk) || unpack(chunk);
  chunks.delete(chunk);
  chunks.set(chunk, known);
  if (chunks.size > CHUNKS_KEPT) chunks.delete(chunks.keys().next().value);
  known.catch(() => {
    chunks.delete(chunk);
    broken.add(chunk);
  });
  return known;
}

async function detailsOf(entry) {
  if (entry.chunk === undefined) return null;
  return (await chunkCases(entry.chunk))[entry.position];
}

// Why this page cannot show a case's answers, as a key of the catalogue; null where it can.
function unshowable(entry) {
  if (entry.chunk === undefined) return "details.left_out";
  if (typeof DecompressionStream === "undefined") return "details.browser";
  return broken.has(entry.chunk) ? "details.damaged" : null;
}

const KINDS = { "=": "equal", "-": "delete", "+": "insert" };

// What pack.py left out: equal text, which the golden answer has, and candidates that a difference spells.
function spellOut(details) {
  for (const group of details.candidate || []) {
    for (const diff of group.diffs || []) spellDifference(diff, (details.golden || [])[diff.golden || 0] || {});
    const content = ((group.diffs || [])[0]?.parts || []).find((part) => part.part === "content");
    if (content) group.content ??= content.operations.map((each) => each.kind === "delete" ? "" : each.text).join("");
  }
}

function spellDifference(diff, golden) {
  const texts = { content: golden.content || "", reasoning: ((golden.reasonings || [])[0] || {}).text || "" };
  for (const part of diff.parts || []) {
    let at = 0;
    part.operations = (part.operations || []).map(([sign, value]) => {
      const text = typeof value === "number" ? texts[part.part].slice(at, at + value) : value;
      if (sign !== "+") at += text.length;
      return { kind: KINDS[sign], text };
    });
  }
}

function counts(entries) {
  const byVerdict = {};
  for (const entry of entries) byVerdict[entry.verdict] = (byVerdict[entry.verdict] || 0) + 1;
  return byVerdict;
}
