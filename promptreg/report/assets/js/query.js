// The grammar of the search box. Pure: text in, terms and problems out; nothing here knows the page.
//
//   verdict:drift,fail  was:pass  tag:policy  -suite:"old one"  channel:numbers>2  noise>=3  golden:七天  "two words"  !word
//
// Terms stand beside each other with "and"; commas inside one mean "or"; - or ! before one excludes. Full-width
// punctuation means the same, since Chinese input methods write it.

export const QUERY_FIELDS = {
  verdict: "choice", decision: "choice", was: "choice", since: "choice", tag: "name", suite: "name", fault: "name", cause: "whole", channel: "measure",
  check: "part", id: "part", prompt: "text", golden: "text", candidate: "text", noise: "number", size: "number",
};
export const MOVED_Z = 2;
export const QUERY_LIMIT = 2000;

const QUOTES = "\"“”";
const FIELD = /([a-z_]{1,40})([:：]|[<>＜＞][=＝]?|[=＝])/iy;
const MEASURE = /^([^<>=＜＞＝]{0,200})([<>＜＞][=＝]?|[=＝])(.*)$/s;
const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?$/;

export function folded(text) {
  return String(text).normalize("NFC").toLowerCase();
}

function operator(text) {
  return text.replace("＜", "<").replace("＞", ">").replace("＝", "=");
}

// From a quote to the next one; a backslash keeps a quote or a backslash inside.
function readQuoted(text, at) {
  let value = "";
  for (let index = at + 1; index < text.length; index += 1) {
    if (QUOTES.includes(text[index])) return { value, end: index + 1, closed: true };
    if (text[index] === "\\" && index + 1 < text.length && (QUOTES + "\\").includes(text[index + 1])) index += 1;
    value += text[index];
  }
  return { value, end: text.length, closed: false };
}

function readBare(text, at, stop) {
  let end = at;
  while (end < text.length && !stop.test(text[end])) end += 1;
  return { value: text.slice(at, end), end, closed: true, bare: true };
}

// The values behind `field:`, as written: quoted or bare, with commas between them.
function readValues(text, at) {
  const values = [];
  let end = at;
  for (;;) {
    const value = QUOTES.includes(text[end] || " ") ? readQuoted(text, end) : readBare(text, end, /[\s,，]/);
    values.push(value);
    end = value.end;
    if (!/[,，]/.test(text[end] || " ")) return { values, end };
    end += 1;
  }
}

// What one value means to its field: { value }, or { problem: [name, values of the sentence] }.
function meaning(kind, field, written, choices) {
  const value = folded(written.value).trim();
  if (!value) return { problem: ["empty", {}] };
  if (kind === "choice") {
    const known = choices[field] || {};
    if (Object.hasOwn(known, value)) return { value: known[value] };
    return { problem: ["choice", { value: written.value, choices: [...new Set(Object.values(known))].join(", ") }] };
  }
  if (kind === "whole") return /^\d{1,9}$/.test(value) ? { value: Number(value) } : { problem: ["whole", { value: written.value }] };
  if (kind !== "measure") return { value };
  const compared = written.bare && MEASURE.exec(value);
  const name = compared ? compared[1] : value;
  if (!(choices.channel || []).includes(name)) {
    return { problem: ["channel", { value: name, choices: (choices.channel || []).join(", ") }] };
  }
  if (!compared) return { value: { name, operator: ">", bound: MOVED_Z } };
  if (!NUMBER.test(compared[3])) return { problem: ["number", { value: compared[3] }] };
  return { value: { name, operator: operator(compared[2]), bound: Number(compared[3]) } };
}

function readField(text, at, name, sign, choices) {
  const field = name.toLowerCase();
  const kind = Object.hasOwn(QUERY_FIELDS, field) ? QUERY_FIELDS[field] : undefined;
  const valueAt = at + name.length + sign.length;
  if (!/[:：]/.test(sign)) {
    const { value, end } = readBare(text, valueAt, /\s/);
    const number = NUMBER.test(value);
    if (kind === "number") {
      return { end, ...number ? { term: { field, operator: operator(sign), bound: Number(value) } } : { problem: ["number", { value }] } };
    }
    // Only what looks meant as a comparison; `a=b` and `x->y` are words to be found.
    if (!number || /^[=＝]/.test(sign)) return null;
    const channel = (choices.channel || []).includes(field);
    return { end, problem: [channel ? "channel_prefix" : "compared", { field: name, term: text.slice(at, end) }] };
  }
  const { values, end } = readValues(text, valueAt);
  if (kind === undefined) return { end, problem: ["field", { field: name, fields: Object.keys(QUERY_FIELDS).join(", ") }] };
  if (kind === "number") {
    const compared = MEASURE.exec(values[0].value);
    if (values.length === 1 && compared && !compared[1] && NUMBER.test(compared[3])) {
      return { end, term: { field, operator: operator(compared[2]), bound: Number(compared[3]) } };
    }
    return { end, problem: ["comparison", { field }] };
  }
  const meanings = values.map((written) => meaning(kind, field, written, choices));
  const wrong = meanings.find((each) => each.problem);
  if (wrong) return { end, problem: [wrong.problem[0], { field, ...wrong.problem[1] }] };
  return { end, term: { field, values: meanings.map((each) => each.value) }, closed: values.every((each) => each.closed) };
}

function readTerm(text, at, choices) {
  if (QUOTES.includes(text[at])) {
    const { value, end, closed } = readQuoted(text, at);
    return { end, term: value.trim() ? { field: "text", values: [folded(value)] } : null, closed };
  }
  FIELD.lastIndex = at;
  const named = FIELD.exec(text);
  const field = named && readField(text, at, named[1], named[2], choices);
  if (field) return field;
  const { value, end } = readBare(text, at, /\s/);
  const word = folded(value);
  // A verdict's own name is short for verdict:name; in quotes it is a word like any other.
  if ((choices.short || []).includes(word)) return { end, term: { field: "verdict", values: [word] } };
  return { end, term: { field: "text", values: [word] } };
}

// `choices`: of verdict, decision, was and since { word: name }, of channel its names, `short` the verdicts that need no field.
// Gives { terms, problems }: a term is { field, values | operator and bound, not, start, end }, a problem { name, values,
// start, end, applied }: a sentence of the catalogue, and whether the term counts nonetheless.
export function parseQuery(text, choices) {
  const terms = [];
  const problems = [];
  let at = 0;
  while (at < text.length) {
    if (/\s/.test(text[at])) {
      at += 1;
      continue;
    }
    const start = at;
    const not = /[-!！－]/.test(text[at]) && at + 1 < text.length && !/\s/.test(text[at + 1]);
    const { end, term, problem, closed } = readTerm(text, not ? at + 1 : at, choices);
    if (problem) problems.push({ name: problem[0], values: problem[1], start, end, applied: false });
    else if (term) terms.push({ ...term, not, start, end });
    if (closed === false) problems.push({ name: "quote", values: { term: text.slice(start, end) }, start, end, applied: true });
    at = end;
  }
  return { terms, problems };
}

// The text without what lies from start to end.
export function withoutPart(text, { start, end }) {
  return [text.slice(0, start).trimEnd(), text.slice(end).trimStart()].filter(Boolean).join(" ");
}

function writtenValue(value) {
  const word = typeof value === "object" ? `${value.name}${value.operator === ">" && value.bound === MOVED_Z ? "" : value.operator + value.bound}` : String(value);
  return /[\s,，"“”\\]|^$/.test(word) ? `"${word.replace(/["“”\\]/g, "\\$&")}"` : word;
}

// The text in which a field has just these values; none: the field is gone. What it excludes stays.
export function withValues(text, terms, field, values) {
  const own = terms.filter((term) => term.field === field && !term.not).sort((a, b) => b.start - a.start);
  const rest = own.reduce((left, term) => withoutPart(left, term), text).trim();
  return values.length ? `${rest}${rest ? " " : ""}${field}:${values.map(writtenValue).join(",")}` : rest;
}

// What a field is asked for: its values in all terms that do not exclude.
export function valuesOf(terms, field) {
  return terms.filter((term) => term.field === field && !term.not).flatMap((term) => term.values);
}

const COMPARE = {
  ">": (a, b) => a > b, ">=": (a, b) => a >= b, "<": (a, b) => a < b, "<=": (a, b) => a <= b, "=": (a, b) => a === b,
};

export function compares(value, { operator: sign, bound }) {
  return value !== undefined && value !== null && COMPARE[sign](value, bound);
}

// Whole; a star stands for any characters.
export function isNamed(name, wish) {
  const [start, ...rest] = wish.split("*");
  const text = folded(name);
  if (!rest.length) return text === wish;
  const end = rest.pop();
  let at = start.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.startsWith(start) && text.endsWith(end) && text.length - end.length >= at;
}

// A part of the name; with a star the whole of it, as `--select` means it.
export function isLike(name, wish) {
  return wish.includes("*") ? isNamed(name, wish) : folded(name).includes(wish);
}
