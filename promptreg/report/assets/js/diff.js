// Paints differences that were computed elsewhere: operations in, rows of elements out.

const FOLD_ABOVE = 420;
const FOLD_CONTEXT = 200;
const FOLD_ROWS = 6;
const SENTENCE_END = /[。！？.!?；;…\n]["'”’」』）)】》]*\s*/g;

// Each change with what stands in its place on the other side.
function opposed(operations) {
  const result = [];
  for (let index = 0; index < operations.length;) {
    let end = index;
    while (end < operations.length && operations[end].kind !== "equal") end += 1;
    const change = operations.slice(index, end);
    const textOf = (kind) => change.filter((operation) => operation.kind === kind).map((operation) => operation.text).join("");
    const against = { delete: textOf("insert"), insert: textOf("delete") };
    result.push(...change.map((operation) => ({ ...operation, against: against[operation.kind] })));
    if (end < operations.length) result.push(operations[end]);
    index = end + 1;
  }
  return result;
}

// As many operations as a pane paints at once, and how many characters are left for later.
function clipped(operations) {
  if (state.unfolded) return { kept: operations, left: 0 };
  const kept = [];
  let room = TEXT_LIMIT;
  let left = 0;
  for (const operation of operations) {
    // Equal stretches are folded later and cost nothing.
    const cost = operation.kind === "equal" ? Math.min(operation.text.length, FOLD_ABOVE) : operation.text.length;
    if (room <= 0) left += operation.text.length;
    else if (cost <= room) kept.push(operation);
    else {
      const cut = safeCut(operation.text, room);
      kept.push({ ...operation, text: operation.text.slice(0, cut) });
      left += operation.text.length - cut;
    }
    room -= cost;
  }
  return { kept, left };
}

// Operations -> rows, cut where both texts break their line, so that paragraphs stand side by side, and where both end
// a sentence in a paragraph that changed (`breaks`: places in the golden).
function rowsOf(operations, breaks) {
  const rows = [[]];
  const softly = [...(breaks || [])];
  let at = 0;
  for (const operation of operations) {
    if (operation.kind !== "equal") {
      rows[rows.length - 1].push(operation);
      if (operation.kind === "delete") at += operation.text.length;
      continue;
    }
    for (const line of operation.text.split(/(?<=\n)/)) {
      let rest = line;
      while (softly.length && softly[0] <= at) softly.shift();
      while (softly.length && softly[0] < at + rest.length) {
        const length = softly.shift() - at;
        rows[rows.length - 1].push({ kind: "equal", text: rest.slice(0, length) });
        rows.push([]);
        rest = rest.slice(length);
        at += length;
      }
      if (rest) rows[rows.length - 1].push({ kind: "equal", text: rest });
      at += rest.length;
      if (line.endsWith("\n")) rows.push([]);
    }
    if (softly[0] === at) {
      softly.shift();
      rows.push([]);
    }
  }
  return rows.filter((row) => row.length > 0);
}

// Whether a row ends inside a paragraph.
function softly(row) {
  const last = row[row.length - 1];
  return !(last.kind === "equal" && last.text.endsWith("\n"));
}

function isEqualRow(row) {
  return row.every((operation) => operation.kind === "equal");
}

function textOfRow(row) {
  return row.map((operation) => operation.text).join("");
}

// Runs of equal rows far from any difference become one fold: many characters, or many short rows.
function foldRows(rows) {
  const folded = [];
  let index = 0;
  while (index < rows.length) {
    let end = index;
    while (end < rows.length && isEqualRow(rows[end])) end += 1;
    const keepBefore = index === 0 ? 0 : 1;
    const keepAfter = end === rows.length ? 0 : 1;
    const hidden = rows.slice(index + keepBefore, Math.max(index + keepBefore, end - keepAfter));
    const characters = hidden.reduce((sum, row) => sum + row.reduce((size, part) => size + part.text.length, 0), 0);
    if (hidden.length > 2 && (characters > FOLD_ABOVE || hidden.length > FOLD_ROWS) && !hitIn(hidden.map(textOfRow).join(""))) {
      for (let kept = 0; kept < keepBefore; kept += 1) folded.push({ row: rows[index + kept] });
      folded.push({ hidden, characters });
      for (let kept = end - keepAfter; kept < end; kept += 1) folded.push({ row: rows[kept] });
    } else {
      for (let kept = index; kept < end; kept += 1) folded.push({ row: rows[kept] });
    }
    if (end < rows.length) folded.push({ row: rows[end] });
    index = end + 1;
  }
  return folded;
}

// Of a long equal stretch inside a row, two sentences at its beginning and at its end stay, where they are short.
function foldStretch(text) {
  if (text.length <= FOLD_ABOVE) return null;
  const heads = [...text.slice(0, FOLD_CONTEXT).matchAll(SENTENCE_END)].map((end) => end.index + end[0].length);
  const before = heads.length ? heads[Math.min(1, heads.length - 1)] : safeCut(text, FOLD_CONTEXT / 2);
  const from = text.length - FOLD_CONTEXT;
  const tails = [...text.slice(from).matchAll(SENTENCE_END)].map((end) => from + end.index + end[0].length).filter((end) => end < text.length);
  const after = tails.length ? tails[Math.max(0, tails.length - 2)] : safeCut(text, text.length - FOLD_CONTEXT / 2);
  return after - before > 120 && !hitIn(text) ? { before, after } : null;
}

// Never inside a surrogate pair.
function safeCut(text, at) {
  if (at >= text.length) return text.length;
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at;
}

const LONG_CHANGE = 30;

// A whole sentence struck out cannot be read: long changes are struck and underlined faintly.
function longClass(operation) {
  return operation.text.length > LONG_CHANGE ? "long" : null;
}

function paintStretch(operation, atEnd, expanded) {
  if (operation.kind === "delete") return el("del", { class: longClass(operation) }, marked(operation.text, atEnd, operation.against));
  if (operation.kind === "insert") return el("ins", { class: longClass(operation) }, marked(operation.text, atEnd, operation.against));
  const fold = expanded ? null : foldStretch(operation.text);
  if (!fold) return marked(operation.text, atEnd);
  const hidden = operation.text.slice(fold.before, fold.after);
  return [marked(operation.text.slice(0, fold.before), false), unfolder("diff.unfold", hidden.length, "stretch"),
    marked(operation.text.slice(fold.after), atEnd)];
}

function unfolder(label, characters, kind, lines) {
  return button(t(label, { count: number(characters, 0), lines: number(lines || 0, 0) }),
    { class: `unfold ${kind}`, onclick: () => { state.unfolded = true; renderCase(); } });
}

// Whether a side has no text at all: its pane says so once.
function isEmptySide(part, side) {
  const operations = part.operations || [];
  return part.part === "content" && operations.length > 0 && !sideOf(operations, side).some((operation) => operation.text);
}

function sideOf(row, side) {
  return row.filter((operation) => operation.kind === "equal" || operation.kind === side);
}

function paintSide(row, side, last) {
  const parts = side ? sideOf(row, side) : row;
  return parts.map((operation, index) => paintStretch(operation, last && index === parts.length - 1, state.unfolded));
}

// A change that nobody can see is marked as in the texts.
function shownChange(text, against) {
  return marked(readable(text), true, readable(against || ""));
}

// What became what: facts with their kind, JSON values with their path, then other short changes.
function changesLine(part) {
  const changes = part.changes || [];
  return changes.length > 0 && el("ul", { class: "changes", "aria-label": t("diff.changes") }, changes.map((change) => el("li", null,
    change.where ? [el("code", { class: "change-kind" }, readable(change.where)), " "]
      : change.kind && change.kind !== "json" && [el("span", { class: "change-kind" }, known("fact", readable(change.kind))), " "],
    change.golden && el("del", null, shownChange(change.golden, change.candidate)), change.golden && change.candidate && el("span", { class: "arrow" }, change.kind === "spelling" ? " = " : " → "),
    change.candidate && el("ins", null, shownChange(change.candidate, change.golden)))),
  part.more_changes > 0 && el("li", { class: "more" }, t("diff.more_changes", { count: number(part.more_changes) })));
}

// The panes of one part: two side by side, or one. `view` is "side", "inline", "golden" or "candidate".
function diffPanes(part, view, labels) {
  const { kept, left } = clipped(opposed(part.operations || []));
  const rows = rowsOf(kept, view === "side" ? part.breaks : null);
  const rest = left > 0 && unfolder("diff.more", left, "rows");
  const shown = state.unfolded ? rows.map((row) => ({ row })) : foldRows(rows);
  const joined = (part.operations || []).map((operation) => operation.text).join("");
  const attributes = { class: "text", lang: langOf(joined), dir: "auto" };
  const code = looksLikeCode(joined) ? " code" : "";
  const pane = (side, label) => el("div", { class: `pane ${side || "both"}${code}` },
    el("h4", null, label),
    side && isEmptySide(part, { golden: "delete", candidate: "insert" }[side]) ? emptyText()
      : el("div", attributes, shown.map((item, index) => item.hidden ? unfolder("diff.unfold_lines", item.characters, "rows", item.hidden.length)
      : paintSide(item.row, { golden: "delete", candidate: "insert" }[side], index === shown.length - 1)), rest));
  if (view === "inline") return el("div", { class: "panes one" }, pane(null, t("diff.inline.label")));
  if (view === "golden" || view === "candidate") return el("div", { class: "panes one" }, pane(view, labels[view]));
  return el("div", { class: "panes two" }, el("div", { class: "pane-heads" },
    el("h4", { class: "golden" }, labels.golden), el("h4", { class: "candidate" }, labels.candidate)),
  el("div", { class: `rows${code}` }, shown.map((item, index) => item.hidden
    ? el("div", { class: "row folded" }, unfolder("diff.unfold_lines", item.characters, "rows", item.hidden.length))
    : el("div", { class: softly(item.row) ? "row soft" : "row" }, ["delete", "insert"].map((side) => el("div",
      { ...attributes, class: `cell text ${side === "delete" ? "golden" : "candidate"}` },
      index === 0 && isEmptySide(part, side) ? emptyText() : paintSide(item.row, side, index === shown.length - 1)))))), rest);
}
