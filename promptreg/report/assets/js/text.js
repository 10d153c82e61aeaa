// Model text as text: exactly what was answered, with what the eye cannot see marked.

const MARKS = {
  "\u00a0": "NBSP", "\u00ad": "SHY", "\u034f": "CGJ", "\u061c": "ALM", "\u180e": "MVS", "\u200b": "ZWSP",
  "\u200c": "ZWNJ", "\u200d": "ZWJ", "\u200e": "LRM", "\u200f": "RLM", "\u2028": "LS", "\u2029": "PS",
  "\u202a": "LRE", "\u202b": "RLE", "\u202c": "PDF", "\u202d": "LRO", "\u202e": "RLO", "\u202f": "NNBSP",
  "\u2060": "WJ", "\u2066": "LRI", "\u2067": "RLI", "\u2068": "FSI", "\u2069": "PDI", "\ufeff": "BOM",
  "\u3000": "□", "\r": "CR", "\t": "⇥", "\u0085": "NEL", "\ufffd": "�",
};
// A joiner between two pictographs builds one emoji; marking it would tear the emoji apart.
const UNSEEN = /(?<!\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?)\u200d|\u200d(?!\p{Extended_Pictographic})|[\u0000-\u0008\u0009\u000b-\u001f\u007f-\u009f\u00a0\u00ad\u034f\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufffd]|\u3000|[ ]+(?=\n|$)/gu;
const CONTROL = /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b\[[0-9;?]*[ -/]*[@-~]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
// Letters that look like Latin ones and stand beside a Latin letter.
const LOOKALIKE = /(?<=[A-Za-z])[АВЕЅІЈКМНОРСТХаеѕіјорсухΑΒΕΖΗΙΚΜΝΟΡΤΥΧοκν]|[АВЕЅІЈКМНОРСТХаеѕіјорсухΑΒΕΖΗΙΚΜΝΟΡΤΥΧοκν](?=[A-Za-z])/u;
const WIDE = /[０-９Ａ-Ｚａ-ｚ]+/u;
const CONFUSABLE = new RegExp(`${UNSEEN.source}|${LOOKALIKE.source}|${WIDE.source}`, "gu");
// Characters that have a twin of another width or another dash. In Chinese they are ordinary punctuation, so they are
// told only where one took the place of its twin.
const TWIN = /[\uff01-\uffee‐-―−]/u;
const CONFUSABLE_OR_TWIN = new RegExp(`${CONFUSABLE.source}|${TWIN.source}`, "gu");
// Tabs and ideographic spaces are marked where they stand, but no news.
const ORDINARY = new Set(["⇥", "□", "�"]);

// Characters that are seen but may be taken for others keep their place; the mark stands behind them.
function seenAs(found) {
  const code = found.codePointAt(0);
  if (code >= 0xff01 && code <= 0xff60 || code >= 0xffe0 && code <= 0xffe6) return "wide";
  if (code >= 0xff61 && code <= 0xffee) return "narrow";
  if (code >= 0x0370 && code <= 0x03ff) return "greek";
  if (code >= 0x0400 && code <= 0x04ff) return "cyrillic";
  return code === 0x2212 || code >= 0x2010 && code <= 0x2015 ? "dash" : "";
}

function markOf(found) {
  if (found[0] === " ") return "·".repeat(Math.min(found.length, 8));
  if (seenAs(found) === "dash") return `U+${found.codePointAt(0).toString(16).toUpperCase()}`;
  if (seenAs(found)) return t(`mark.${seenAs(found)}`);
  if (found in MARKS) return MARKS[found];
  const code = found.codePointAt(0);
  if (code < 32) return String.fromCodePoint(0x2400 + code);
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

// Blanks and line ends that came or went are a change too and must be seen.
const BLANK_CHANGE = /^[ \n]+$/;

// What twins have in common.
function plainForm(character) {
  return /[‐-―−]/.test(character) ? "-" : character.normalize("NFKC");
}

// Each character of a stretch with its place, and its plain form beside those of its neighbours.
function* besideNeighbours(text) {
  const characters = [...text];
  const forms = ["", ...characters.map(plainForm), ""];
  let at = 0;
  for (const [index, character] of characters.entries()) {
    const form = forms[index + 1];
    yield { at, character, beside: [`${forms[index]}<${form}`, `${form}>${forms[index + 2]}`] };
    at += character.length;
  }
}

// Where a stretch has the twin of what stands in its place on the other side, `，` where `,` was: beside the same
// neighbour, or at the same end of the stretch.
function twinPlaces(text, against) {
  const places = new Set();
  if (!TWIN.test(text)) return places;
  const there = new Map();
  for (const { character, beside } of besideNeighbours(against)) {
    for (const key of beside) there.set(key, there.has(key) && there.get(key) !== character ? "" : character);
  }
  for (const { at, character, beside } of besideNeighbours(text)) {
    // Where the other side has both twins beside this neighbour, neither is news.
    if (TWIN.test(character) && beside.some((key) => there.get(key) && there.get(key) !== character)) places.add(at);
  }
  return places;
}

// What is marked in a text, in order; neighbours of one kind are one mark.
function marksIn(text, atEnd, against) {
  const twins = against === undefined ? null : twinPlaces(text.slice(0, TEXT_LIMIT), against.slice(0, TEXT_LIMIT));
  const found = [];
  for (const match of text.matchAll(twins && twins.size ? CONFUSABLE_OR_TWIN : CONFUSABLE)) {
    const [part] = match;
    // Blanks at the end of a stretch are trailing only where the text or a line ends with them.
    if (part[0] === " " && match.index + part.length === text.length && !atEnd) continue;
    if (TWIN.test(part) && !WIDE.test(part) && !twins.has(match.index)) continue;
    const last = found[found.length - 1];
    if (last && seenAs(part) && last.at + last.part.length === match.index && markOf(last.part) === markOf(part)) last.part += part;
    else found.push({ at: match.index, part });
  }
  return found;
}

// Text nodes and marks whose joined textContent is the text itself. `against`: of a stretch that changed, what stands in
// its place on the other side.
function marked(text, atEnd, against) {
  if (against !== undefined && text.length < 2000 && BLANK_CHANGE.test(text)) {
    return [...text].map((blank) => el("span", { class: "mark", "data-mark": blank === " " ? "␣" : "↵" }, blank));
  }
  const nodes = [];
  let from = 0;
  for (const { at, part } of marksIn(text, atEnd, against)) {
    if (at > from) nodes.push(document.createTextNode(text.slice(from, at)));
    nodes.push(el("span", { class: seenAs(part) ? "mark seen" : "mark", "data-mark": markOf(part) }, part));
    from = at + part.length;
  }
  if (from < text.length) nodes.push(document.createTextNode(text.slice(from)));
  return nodes;
}

// Browsers take seconds to break one very long paragraph into lines: labels are cut, texts open in two steps.
const LABEL_LIMIT = 2000;
const TEXT_LIMIT = 20000;

// For labels, ids and sentences: terminal escapes and controls dropped, direction overrides too.
function readable(text) {
  const start = String(text).slice(0, LABEL_LIMIT);
  return start.replace(CONTROL, "") + (String(text).length > LABEL_LIMIT ? "…" : "");
}

// A text as a block of its own: marked, in its language, its end left out until asked for.
function textBlock(text, attributes) {
  const cut = state.unfolded ? text.length : safeCut(text, TEXT_LIMIT);
  return el("div", { lang: langOf(text), dir: "auto", ...attributes, class: `text ${(attributes && attributes.class) || ""}` },
    marked(text.slice(0, cut), true), cut < text.length && unfolder("diff.more", text.length - cut, "rows"));
}

const BRIEF = 300;

// For rows of a list, where only the start is in sight anyway.
function brief(text) {
  const plain = readable(text);
  return plain.length > BRIEF ? `${plain.slice(0, BRIEF)}…` : plain;
}

// What a reader cannot see or may take for something else: mark -> how often.
function hiddenCounts(text) {
  const found = new Map();
  for (const [match] of text.slice(0, TEXT_LIMIT * 10).matchAll(CONFUSABLE)) {
    const mark = match[0] === " " ? "·" : markOf(match);
    if (!ORDINARY.has(mark)) found.set(mark, (found.get(mark) || 0) + 1);
  }
  return found;
}

// A language for the pane, so that fonts and readers choose rightly; empty where the script does not tell.
function langOf(text) {
  const start = text.slice(0, 2000);
  if (/[\u3040-\u30ff]/.test(start)) return "ja";
  if (/[\uac00-\ud7af]/.test(start)) return "ko";
  if (/[\u3400-\u9fff\uf900-\ufaff]/.test(start)) return "zh-CN";
  if (/[\u0400-\u04ff]/.test(start)) return "ru";
  return "";
}

function looksLikeCode(text) {
  const start = text.trimStart();
  return /^[[{]/.test(start) || /^```/m.test(start) || /^ {4}\S/m.test(text);
}
