// The page's words, numbers and dates, in the reader's language.

const catalogues = JSON.parse(byId("catalogue-data").textContent);

// `{count}` is filled in; `{count|case|cases}` is the word for as many as that.
function t(key, values) {
  const text = catalogues[state.language][key];
  if (text === undefined) return key;
  return text.replace(/\{(\w+)(?:\|([^|}]*)\|([^|}]*))?\}/g, (whole, name, one, many) => {
    if (!values || !(name in values)) return whole;
    if (one === undefined) return String(values[name]);
    return String(values[name]) === "1" ? one : many;
  });
}

// A word the catalogue may know, else as it is: settings, channels, flags.
function known(group, name) {
  const text = catalogues[state.language][`${group}.${name}`];
  return text === undefined ? name : text;
}

// A sentence comes in both languages; control characters have no business in it.
function say(sentence) {
  if (!sentence) return "";
  return readable(sentence[state.language] || sentence.en || "");
}

// A command stands between backticks in a sentence, and as code on the page; a backtick without its twin is text.
function withCommands(text) {
  return text.split(/`([^`]+)`/).map((part, index) => (index % 2 ? el("code", null, part) : part));
}

// A sentence with its commands, in full or its beginning; a command that is cut in two stays one.
function sentenceOf(sentence) {
  return withCommands(say(sentence));
}

function briefSentenceOf(sentence, after = "") {
  return withCommands(brief(withoutLead(say(sentence), after)).replace(/^([^`]*(?:`[^`]*`[^`]*)*)`([^`]*)…$/, "$1`$2…`"));
}

// Where there is room for text alone.
function bareSentenceOf(sentence) {
  return say(sentence).replace(/`([^`]+)`/g, "$1");
}

// What is left of a sentence behind a title that it begins with: "F24 (JSON inside text) was seen …" behind
// "F24 JSON inside text".
function withoutLead(text, title) {
  const [, kind, name] = title.match(/^(\S+) (.+)$/) || [];
  const begins = [`${kind} (${name}) `, `${kind}（${name}）`].find((each) => text.startsWith(each));
  return begins ? text.slice(begins.length) : text;
}

// Sentences as one line, divided as the language divides them.
function inSeries(sentences) {
  return sentences.map(say).reduce((before, next) => t("series", { before, next }));
}

function htmlLang() {
  return state.language === "zh" ? "zh-CN" : "en";
}

// Making a format takes a hundred times as long as using it.
const formats = new Map();

function number(value, digits = 2) {
  if (value === null || value === undefined) return "—";
  const key = `${htmlLang()} ${digits}`;
  if (!formats.has(key)) formats.set(key, new Intl.NumberFormat(htmlLang(), { maximumFractionDigits: digits }));
  return formats.get(key).format(value);
}

function seconds(value) {
  if (value === null || value === undefined) return "—";
  return value < 1 ? `${number(value * 1000, 0)} ms` : `${number(value, value < 10 ? 2 : 1)} s`;
}

// Finite numbers may still be no time of the calendar.
function isTime(unixSeconds) {
  return Number.isFinite(unixSeconds) && Number.isFinite(new Date(unixSeconds * 1000).getTime());
}

function date(unixSeconds) {
  if (!isTime(unixSeconds)) return "";
  return new Intl.DateTimeFormat(htmlLang(), { dateStyle: "medium", timeStyle: "short" }).format(unixSeconds * 1000);
}

function ofTotal(part, total) {
  return t("of", { part, total });
}
