// The order of the list. The report comes worst first; every other order falls back to suite and id.

const SORTS = ["severity", "id", "size"];
const CHANNEL_SORT = "channel:";
let ranks = null;

function isSort(name) {
  return SORTS.includes(name) || Boolean(name) && name.startsWith(CHANNEL_SORT) && channelNames.includes(name.slice(CHANNEL_SORT.length));
}

// Each case's place by suite and id, "case-2" before "case-10".
function rankOf(entry) {
  if (ranks === null) {
    const collator = new Intl.Collator("en", { numeric: true });
    const byName = (a, b) => collator.compare(a.suite, b.suite) || collator.compare(a.case_id, b.case_id);
    ranks = new Map([...report.cases].sort(byName).map((each, index) => [each, index]));
  }
  return ranks.get(entry);
}

// Largest first; cases without the number come last.
function sorted(entries, order) {
  if (order === "severity") return entries;
  const channel = order.slice(CHANNEL_SORT.length);
  const measure = { id: () => 0, size: (entry) => entry.size }[order] || ((entry) => entry.z && entry.z[channel]);
  return entries.map((entry) => [measure(entry) ?? -Infinity, rankOf(entry), entry])
    .sort((a, b) => b[0] - a[0] || a[1] - b[1]).map((each) => each[2]);
}

function sortMenu() {
  const option = (name, label) => el("option", { value: name, selected: state.sort === name }, label);
  return el("label", { class: "sorting" }, t("sort.label"), " ",
    el("select", { id: "sort", onchange: (event) => { state.sort = event.target.value; filterChosen(); } },
      SORTS.map((name) => option(name, t(`sort.${name}`))),
      channelNames.length > 0 && el("optgroup", { label: t("sort.channel") },
        channelNames.map((name) => option(CHANNEL_SORT + name, readable(known("channel", name)))))));
}
