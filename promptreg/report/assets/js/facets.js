// Facets and chips: a query put together with the mouse. Both only write into the search box.

const FACET_SHOWN = 8;
const unfoldedFacets = new Set();

function facetLabel(facet, value) {
  if (facet === "verdict") return known("verdict", value);
  if (facet === "channel") return readable(known("channel", value));
  if (facet === "decision") return known("done", value);
  if (facet === "was") return wasName(value);
  if (facet === "since") return known("since", value);
  if (facet === "check") return brief(checkName(value));
  if (facet !== "cause") return brief(value);
  const cause = (report.causes || [])[value - 1];
  return cause ? bareSentenceOf(cause.title) : String(value);
}

// What a value of a facet is called in the query.
function wishFor(facet, value) {
  return facet === "channel" ? { name: folded(value), operator: ">", bound: MOVED_Z } : facet === "cause" ? value : folded(value);
}

function isChosen(chosen, wish) {
  return chosen.some((each) => typeof wish === "object" ? each.name === wish.name && each.bound === wish.bound : each === wish);
}

// A click leaves just this value, or takes it away; with Ctrl, Cmd or Shift it comes to the others or goes from them.
function facetClicked(event, facet, value) {
  const { terms } = asked();
  const chosen = valuesOf(terms, facet);
  const wish = wishFor(facet, value);
  const others = chosen.filter((each) => !isChosen([each], wish));
  const add = event.ctrlKey || event.metaKey || event.shiftKey;
  const taken = others.length < chosen.length;
  const values = add ? taken ? others : [...chosen, wish] : taken && !others.length ? [] : [wish];
  setQuery(withValues(state.query, terms, facet, values));
}

function facetButton(facet, value, count, chosen) {
  return button(null, { class: `facet${facet === "verdict" ? ` v-${value}` : ""}`, "data-facet": facet, "data-value": value,
    "aria-pressed": isChosen(chosen, wishFor(facet, value)) ? "true" : "false",
    title: facet === "verdict" ? t(`explain.${value}`) : facetLabel(facet, value), onclick: (event) => facetClicked(event, facet, value) },
  facet === "verdict" && verdictMark(value), el("span", { class: "facet-name" }, facetLabel(facet, value)), " ",
  el("span", { class: "n" }, number(count)));
}

function facetGroup(facet, counts, terms) {
  const chosen = valuesOf(terms, facet);
  const values = [...counts].sort((a, b) => b[1] - a[1] || (String(a[0]) < String(b[0]) ? -1 : 1));
  const limit = unfoldedFacets.has(facet) ? values.length : FACET_SHOWN;
  const drawn = values.filter(([value], index) => index < limit || isChosen(chosen, wishFor(facet, value)));
  if (!values.length || facet === "suite" && !manySuites) return null;
  return el("div", { class: "facet-group", role: "group", "aria-labelledby": `facet-${facet}` },
    el("h3", { id: `facet-${facet}` }, t(`facet.${facet}`)),
    el("div", { class: "facets" }, drawn.map(([value, count]) => facetButton(facet, value, count, chosen)),
      drawn.length < values.length && button(t("facet.more", { count: number(values.length - drawn.length) }),
        { class: "facet more", "data-facet": facet, "data-value": "", onclick: () => { unfoldedFacets.add(facet); applyFilter(); } })));
}

// Made anew with each change; the focus stays on the same value.
function paintFacets(counts, terms) {
  const focused = document.activeElement && document.activeElement.dataset;
  replace(byId("facets"), verdictsPresent().map((verdict) => facetButton("verdict", verdict, counts.get("verdict").get(verdict) || 0, valuesOf(terms, "verdict"))));
  if (facetsOpen) {
    const groups = FACETS.filter((facet) => facet !== "verdict").map((facet) => facetGroup(facet, counts.get(facet), terms)).filter(Boolean);
    replace(byId("facet-groups"), el("p", { class: "hint" }, t("facet.hint")), groups.length ? groups : el("p", { class: "hint" }, t("facet.none")));
  }
  if (!focused || !focused.facet) return;
  const same = [...document.querySelectorAll("[data-facet]")].find((each) => each.dataset.facet === focused.facet && each.dataset.value === focused.value);
  same?.focus({ preventScroll: true });
}

function verdictsPresent() {
  const all = counts(report.cases);
  return VERDICTS.filter((verdict) => all[verdict]);
}

function chipText(term) {
  if (term.field === "text") return `“${term.values[0]}”`;
  if (!term.values) return `${t(`facet.${term.field}`)} ${term.operator} ${number(term.bound)}`;
  const values = term.values.map((value) => {
    if (term.field === "channel") return `${readable(known("channel", value.name))} ${value.operator} ${number(value.bound)}`;
    return ["verdict", "decision", "cause", "was", "since"].includes(term.field) ? facetLabel(term.field, value) : brief(value);
  });
  return `${t(`facet.${term.field}`)}: ${values.join(` ${t("chip.or")} `)}`;
}

// One chip for each part of the query, in its order; what was not understood stays in sight too.
function paintChips({ terms, problems }) {
  const parts = [...terms, ...problems.filter((problem) => !problem.applied)].sort((a, b) => a.start - b.start);
  const chips = parts.map((part) => {
    const plain = part.field ? readable(chipText(part)) : brief(state.query.slice(part.start, part.end));
    const text = part.field && part.not ? t("chip.not", { term: plain }) : plain;
    return el("li", null, button(t("chip.remove", { term: text }), { class: `query-chip${part.field ? "" : " wrong"}`, title: t("chip.remove", { term: text }),
      onclick: () => chipRemoved(part) }, !part.field && el("span", { "aria-hidden": "true" }, "⚠ "), el("span", { class: "facet-name" }, text),
    el("span", { class: "cross", "aria-hidden": "true" }, "×")));
  });
  if (chips.length > 1) chips.push(el("li", null, button(t("chip.all"), { class: "query-chip clear", onclick: () => chipRemoved(null) })));
  replace(byId("chips"), chips);
}

function chipRemoved(part) {
  setQuery(part ? withoutPart(state.query, part) : "");
  (byId("chips").querySelector("button") || byId("search")).focus();
}
