// The words of a text search, marked in the open case where they stand.

const HITS_SHOWN = 300;
let wordsShown = "";
let wordsTimer = 0;

// What is searched for in one of TEXT_FIELDS, folded.
function wordsIn(field) {
  return asked().terms.filter((term) => !term.not && (term.field === "text" || term.field === field) && TEXT_FIELDS.includes(term.field))
    .flatMap((term) => term.values);
}

const CLUSTER = /[\u1100-\u11ff]+|\P{M}\p{M}*|\p{M}+/gu;

// A text as it is searched, with the place in the text of each of its characters and of its end.
function foldedPlaces(text) {
  const whole = folded(text);
  // Folding lengthens a few letters and joins accents to theirs; texts without such are the rule.
  if (whole.length === text.length && text.normalize("NFC") === text) return { whole, placeOf: (at) => at };
  const places = [];
  let joined = "";
  for (const match of text.matchAll(CLUSTER)) {
    const part = folded(match[0]);
    for (let index = 0; index < part.length; index += 1) places.push(match.index);
    joined += part;
  }
  places.push(text.length);
  return { whole: joined, placeOf: (at) => places[at] };
}

// Where words stand in a text: [from, to] in order, without overlaps.
function hitRanges(text, words) {
  if (!words.length || !text) return [];
  const { whole, placeOf } = foldedPlaces(text);
  const ranges = [];
  for (const word of words) {
    let left = HITS_SHOWN;
    for (let at = whole.indexOf(word); at >= 0 && left > 0; at = whole.indexOf(word, at + word.length)) {
      ranges.push([placeOf(at), placeOf(at + word.length)]);
      left -= 1;
    }
  }
  const apart = [];
  for (const [from, to] of ranges.sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = apart[apart.length - 1];
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else if (to > from) apart.push([from, to]);
  }
  return apart;
}

// Whether what is to be folded away has a hit; then it stays in sight.
function hitIn(text) {
  return hitRanges(text, [...new Set(["golden", "candidate"].flatMap(wordsIn))]).length > 0;
}

// The text nodes of a block that belong to one side; buttons inside it are no text.
function textNodes(block, left) {
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) => {
    if (node.nodeType === Node.TEXT_NODE) return NodeFilter.FILTER_ACCEPT;
    return node.localName === "button" || node.localName === left ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP;
  });
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  return nodes;
}

function markHits(block, words, left) {
  if (!words.length) return;
  const nodes = textNodes(block, left);
  const ranges = hitRanges(nodes.map((node) => node.data).join(""), words);
  let at = 0;
  let next = 0;
  for (const node of nodes) {
    const end = at + node.data.length;
    const cuts = [];
    for (; next < ranges.length && ranges[next][0] < end; next += 1) {
      cuts.push([Math.max(ranges[next][0], at) - at, Math.min(ranges[next][1], end) - at]);
      if (ranges[next][1] > end) break;
    }
    if (cuts.length && !node.parentNode.classList.contains("hit")) wrapHits(node, cuts);
    at = end;
  }
}

function wrapHits(node, cuts) {
  const { data } = node;
  const parts = [];
  let from = 0;
  for (const [start, end] of cuts) {
    if (start > from) parts.push(document.createTextNode(data.slice(from, start)));
    parts.push(el("mark", { class: "hit" }, data.slice(start, end)));
    from = end;
  }
  if (from < data.length) parts.push(document.createTextNode(data.slice(from)));
  node.replaceWith(...parts);
}

// The sides whose text a block holds, each with the element that is not part of it.
function sidesOf(block) {
  if (block.closest(".message")) return [["prompt", null]];
  if (block.closest("blockquote")) return [["faults", null]];
  if (block.matches(".cell.golden") || block.closest(".pane.golden")) return [["golden", "ins"]];
  if (block.matches(".cell.candidate") || block.closest(".pane.candidate")) return [["candidate", "del"]];
  return [["golden", "ins"], ["candidate", "del"]];
}

// After a case was painted: what is found is marked, and what is folded around it is opened.
function paintHits(main) {
  wordsShown = wordsKey();
  if (!asked().terms.length) return;
  for (const block of main.querySelectorAll(".text")) {
    for (const [field, left] of sidesOf(block)) markHits(block, wordsIn(field), left);
  }
  for (const hit of main.querySelectorAll("mark.hit")) {
    for (let fold = hit.closest("details"); fold; fold = fold.parentNode.closest("details")) fold.open = true;
  }
}

function wordsKey() {
  return TEXT_FIELDS.map((field) => wordsIn(field).join("\u0000")).join("\u0001");
}

// Other words, other marks; a facet changes none.
function wordsChanged() {
  clearTimeout(wordsTimer);
  if (!state.open || wordsKey() === wordsShown) return;
  wordsTimer = setTimeout(() => { if (state.open && wordsKey() !== wordsShown) renderCase(); }, SETTLE_MS);
}
