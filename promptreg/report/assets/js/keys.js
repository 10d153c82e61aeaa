// Keys. Each part of the page registers its own; the help dialog lists them all in the order of registration.

const keyGroups = [];
const keyActions = new Map();

// `group`: catalogue key of the heading. Each binding: `keys` as in KeyboardEvent.key, `act` what to do, `help` catalogue
// key of the words beside it (none: not listed), `show` how the keys are written (else as they are), `when` whether it
// holds now (else the key is left to the browser), `once`: not again while the key is held down.
function registerKeys(group, bindings) {
  for (const binding of bindings) {
    for (const key of binding.keys) {
      if (keyActions.has(key)) throw new Error(`The key ${key} is registered twice.`);
      keyActions.set(key, binding);
    }
  }
  const known = keyGroups.find((each) => each.group === group);
  if (known) known.bindings.push(...bindings);
  else keyGroups.push({ group, bindings: [...bindings] });
}

// Letters belong to whoever types them: fields, dialogs, and an input method that composes (229: Safari's name for it).
// A dialog that was just closed may have the focus for a moment more; nobody types in it.
function keyIsTyped(event) {
  return event.isComposing || event.keyCode === 229 || event.ctrlKey || event.metaKey || event.altKey
    || document.querySelector("dialog[open]") !== null
    || event.target instanceof Element && event.target.closest("dialog") === null
      && event.target.closest("input, textarea, select, [contenteditable]") !== null;
}

// Turned off, only the way to the help stays, where they can be turned on again.
function keyPressed(event) {
  if (event.defaultPrevented || keyIsTyped(event)) return;
  const binding = keyActions.get(event.key);
  if (!binding || !state.keys && event.key !== "?" || binding.when && !binding.when(event)) return;
  event.preventDefault();
  if (!binding.once || !event.repeat) binding.act(event);
}

function helpDialog() {
  const written = (binding) => (binding.show || binding.keys).map((key) => el("kbd", null, key));
  return el("dialog", { id: "help", "aria-labelledby": "help-title" },
    el("h2", { id: "help-title", tabindex: -1, autofocus: true }, t("help.title")),
    keyGroups.map(({ group, bindings }) => el("section", null, el("h3", null, t(group)),
      el("dl", null, bindings.filter((binding) => binding.help).map((binding) => el("div", null,
        el("dt", null, written(binding)), el("dd", null, t(binding.help))))))),
    queryHelp(),
    el("label", { class: "check" }, el("input", { type: "checkbox", checked: state.keys, onchange: (event) => {
      state.keys = event.target.checked;
      remember("keys", state.keys ? "on" : "off");
    } }), " ", t("help.keys")),
    button(t("help.close"), { class: "close", onclick: () => byId("help").close() }));
}

const QUERY_EXAMPLES = [
  ["退款 \"two words\"", "help.find.words"], ["verdict:drift,fail", "help.find.or"], ["-waived !\"退款\"", "help.find.not"],
  ["tag:policy suite:shop* fault:F15", "help.find.fields"], ["check:json cause:1 id:refund decision:none", "help.find.more"],
  ["was:pass since:newly,fixed", "help.find.since"],
  ["channel:numbers>2 noise>=3 size<0.1", "help.find.compare"], ["prompt:… golden:7天 candidate:30天", "help.find.texts"],
];

function queryHelp() {
  return el("section", { class: "query-help" }, el("h3", null, t("help.find")),
    el("dl", null, QUERY_EXAMPLES.map(([example, words]) => el("div", null, el("dt", null, el("code", null, example)), el("dd", null, t(words))))),
    el("p", { class: "hint" }, t("help.find.browser")));
}

function openHelp() {
  byId("help").showModal();
}
