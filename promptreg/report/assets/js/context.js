// A conversation that was shortened for the window of a deployment: what is gone on each side, and why.

function contextSection(details) {
  const context = details.context;
  if (!context) return null;
  const sides = ["source", "target"].map((side) => [side, context[side]]);
  const lost = (side) => (side.changes || []).length > 0 || side.problem;
  return el("section", { class: "context" },
    foldable(t("context.title", { strategy: readable(context.strategy) }), sides.some(([, side]) => lost(side)),
      sides.map(([name, side]) => contextSide(name, side))));
}

function contextSide(name, side) {
  const changes = side.changes || [];
  const inserted = side.inserted || [];
  const window = { window: number(side.window), reserve: number(side.reserve), budget: number(side.budget), counter: readable(side.counter) };
  return el("div", { class: `context-side ${name}` },
    el("h3", null, t(`side.${name}`), " ", readable(report[name].name)),
    side.problem && el("p", { class: "notice" }, sentenceOf(side.problem)),
    side.total !== undefined && el("p", null, changes.length || inserted.length
      ? t("context.shortened", { total: number(side.total), whole: number(side.whole), messages: number(side.messages), dropped: number((side.dropped || []).length) })
      : t("context.whole", { total: number(side.total), messages: number(side.messages) })),
    el("p", { class: "hint" }, t("context.window", window), side.provable === false && ` ${t("context.not_provable")}`),
    (side.notes || []).map((note) => el("p", { class: "hint" }, sentenceOf(note))),
    changes.length > 0 && el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("context.changes") },
      el("table", { class: "calls" }, el("caption", null, t("context.changes")),
        el("thead", null, el("tr", null, ["places", "role", "action", "tokens", "reason"].map((head) => el("th", { scope: "col" }, t(`context.${head}`))))),
        el("tbody", null, changes.map(changeRow)))),
    inserted.length > 0 && [el("h4", null, t("context.inserted")), inserted.map((message) => el("div", { class: "message" },
      el("h4", null, known("role", readable(message.role))), textBlock(message.text)))]);
}

// What is sent in a message's place has a second row.
function changeRow(change) {
  return [el("tr", null,
    el("th", { scope: "row" }, readable(change.places)),
    el("td", null, change.roles.map((role) => known("role", readable(role))).join(", ")),
    el("td", null, known("context.action", readable(change.action))),
    el("td", null, `${number(change.tokens)} → ${number(change.kept || 0)}`),
    el("td", { class: "reason" }, say(change.reason))),
  change.text && el("tr", { class: "why" }, el("td", { colspan: 5 }, el("div", { class: "message" },
    el("h4", null, t("context.instead")), textBlock(change.text))))];
}

// To whom a message of the conversation was not sent; empty where both got it.
function unsentTo(details, place) {
  if (!details.context) return [];
  return ["source", "target"].filter((side) => (details.context[side].dropped || []).includes(place)
    || details.context[side].problem).map((side) => t(`context.not_to_${side}`));
}
