// What the findings come down to. A cause leaves only its own cases in the list; chosen again, it gives all of them back.

const CAUSES_SHOWN = 6;

function causesSection() {
  const causes = report.causes || [];
  if (!causes.length) return null;
  const list = (from, to) => el("ol", { class: "causes", start: from + 1 },
    causes.slice(from, to).map((cause, offset) => el("li", null, causeButton(cause, from + offset + 1))));
  return section("causes.title", el("p", { class: "hint on-screen" }, t("causes.hint")), list(0, CAUSES_SHOWN),
    causes.length > CAUSES_SHOWN && foldable(t("causes.more", { count: number(causes.length - CAUSES_SHOWN) }),
      causeChosen() > CAUSES_SHOWN, list(CAUSES_SHOWN)));
}

function causeButton(cause, index) {
  const example = (report.examples || [])[index - 1];
  return el("button", { type: "button", class: `cause v-${cause.verdict}`, "data-cause": index,
    "aria-pressed": causeChosen() === index ? "true" : "false", onclick: () => chooseCause(index) },
    verdictMark(cause.verdict), el("span", { class: "unseen" }, known("verdict", cause.verdict)),
    el("span", { class: "cause-size" }, t("causes.cases", { count: number(cause.cases) })),
    el("span", { class: "cause-title" }, manySuites && el("span", { class: "of-suite" }, `${brief(cause.suite)} · `), sentenceOf(cause.title),
      example && el("span", { class: "cause-example" }, `: ${readable(example)}`),
      (cause.also || []).length > 0 && el("span", { class: "cause-also" }, withCommands(` ${t("causes.also", { titles: cause.also.map(say).join(" · ") })}`))),
    el("span", { class: "cause-next" }, el("span", { "aria-hidden": "true" }, "→ "), sentenceOf(cause.next_step)));
}

// The number of the one cause that the list is filtered by, 0 where there is none or several.
function causeChosen() {
  const chosen = valuesOf(asked().terms, "cause");
  return chosen.length === 1 ? chosen[0] : 0;
}

function chooseCause(index) {
  setQuery(causeChosen() === index ? withValues(state.query, asked().terms, "cause", []) : `cause:${index}`);
  byId("rail").scrollIntoView({ block: NARROW.matches ? "start" : "nearest" });
}

function paintCauses() {
  const chosen = causeChosen();
  for (const one of document.querySelectorAll(".cause")) one.setAttribute("aria-pressed", Number(one.dataset.cause) === chosen ? "true" : "false");
}

// How many cases the filter leaves, and which cause they share.
function withCause(found) {
  const cause = (report.causes || [])[causeChosen() - 1];
  return cause ? t("causes.found", { found, title: bareSentenceOf(cause.title) }) : found;
}

// On a case's page: what it shares with other cases, each a way to them.
function causesOf(entry) {
  const numbers = (entry.causes || []).filter((index) => (report.causes || [])[index - 1]);
  if (!numbers.length) return null;
  return el("ul", { class: "case-causes", "aria-label": t("causes.title") }, numbers.map((index) => {
    const cause = report.causes[index - 1];
    return el("li", null, el("button", { type: "button", class: "cause-link", "data-cause": index, title: t("causes.show"),
      onclick: () => { if (causeChosen() !== index) chooseCause(index); } }, sentenceOf(cause.title), " ",
      el("span", { class: "n" }, t("causes.cases", { count: number(cause.cases) }))));
  }));
}
