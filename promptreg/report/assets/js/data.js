// The report's data: the list of cases at once, the details chunk by chunk when they are asked for.

const report = JSON.parse(byId("report-data").textContent);
const CHUNKS_KEPT = 6;
const chunks = new Map();

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
  const binary = atob(holder.textContent);
  // A loop: Uint8Array.from with a function takes ten times as long, and a search unpacks every chunk.
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) bytes[index] = binary.charCodeAt(index);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

// Least recently used chunks are forgotten; unpacking one again takes milliseconds.
function chunkCases(chunk) {
  const known = chunks.get(chunk) || unpack(chunk);
  chunks.delete(chunk);
  chunks.set(chunk, known);
  if (chunks.size > CHUNKS_KEPT) chunks.delete(chunks.keys().next().value);
  known.catch(() => chunks.delete(chunk));
  return known;
}

async function detailsOf(entry) {
  if (entry.chunk === undefined) return null;
  const details = (await chunkCases(entry.chunk))[entry.position];
  for (const group of details.candidate || []) {
    for (const diff of group.diffs || []) spellOut(diff, (details.golden || [])[diff.golden || 0] || {});
  }
  return details;
}

const KINDS = { "=": "equal", "-": "delete", "+": "insert" };

// Equal text lies in the file once, in the golden answer; here it is put back into the operations.
function spellOut(diff, golden) {
  const texts = { content: golden.content || "", reasoning: ((golden.reasonings || [])[0] || {}).text || "" };
  for (const part of diff.parts || []) {
    let at = 0;
    part.operations = (part.operations || []).map((operation) => {
      if (!Array.isArray(operation)) return operation;
      const [sign, value] = operation;
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
