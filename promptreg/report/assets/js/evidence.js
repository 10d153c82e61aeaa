// What stands behind a verdict: checks, faults, distances, calls, the request.

// Checks that got worse are open, and so are those that fail without being worse than before; the others are folded.
function checksSection(details) {
  const checks = details.checks || [];
  const worse = checks.filter((check) => check.worse);
  const failing = checks.filter((check) => !check.worse && check.target_passed < check.target_total);
  const others = checks.filter((check) => !worse.includes(check) && !failing.includes(check));
  if (!checks.length) return null;
  const list = (some) => checkList(some, details.approval);
  return el("section", null, worse.length > 0 && [el("h2", null, t("checks.title")), list(worse)],
    failing.length > 0 && [el("h2", null, t(details.approval ? "checks.failing_approved" : "checks.failing")), list(failing)],
    others.length > 0 && foldable(t(worse.length || failing.length ? "checks.others" : "checks.held", { count: others.length }), false, list(others)));
}

function checkList(checks, approval) {
  return el("ul", { class: "checks" }, checks.map((check) => el("li", { class: check.worse ? "worse" : null },
    el("div", { class: "check-name" }, check.worse && svg("svg", { viewBox: "0 0 14 14", width: 14, height: 14, "aria-hidden": "true" }, shapeOf("fail", 7, 7, 5)),
      el("code", null, checkName(check.label)), check.worse && el("span", { class: "worse-word" }, t("checks.worse"))),
    el("div", { class: "rates" }, rate(sideName("source", approval), check.source_passed, check.source_total), rate(sideName("target"), check.target_passed, check.target_total)),
    check.sentence && el("p", null, say(check.sentence)))));
}

// Freedom from a fault is a check of promptreg's own, and has a name in the reader's language.
const FREE_OF = "free of ";

function checkName(label) {
  const name = readable(label);
  return name.startsWith(FREE_OF) ? t("checks.free_of", { kind: name.slice(FREE_OF.length) }) : name;
}

function rate(name, passed, all) {
  const filled = el("span", { class: "filled" });
  filled.style.width = `${all ? (passed / all) * 100 : 0}%`;
  return el("span", { class: "rate" }, el("span", { class: "rate-side" }, name),
    el("span", { class: "meter", "aria-hidden": "true" }, filled),
    el("span", { class: "rate-count" }, all ? ofTotal(passed, all) : t("checks.unscored")));
}

// What every recorded answer shares and answers here lack; nobody had to configure it.
function breachesSection(details) {
  const breaches = details.breaches || [];
  if (!breaches.length) return null;
  return section("breaches.title", el("ul", { class: "breaches" }, breaches.map((sentence) => el("li", null, say(sentence)))));
}

function faultsSection(details) {
  const faults = details.faults || [];
  if (!faults.length) return null;
  return section("faults.title", el("ul", { class: "checks" }, faults.map((fault) => el("li", { class: "worse" },
    el("div", { class: "check-name" }, el("code", null, readable(fault.kind)), el("span", { class: "worse-word" }, known("fault", readable(fault.severity)))),
    el("p", null, say(fault.sentence)),
    fault.where && el("p", { class: "hint" }, readable(fault.where)),
    fault.evidence && el("blockquote", null, textBlock(say(fault.evidence))),
    (fault.suspects || []).length > 0 && el("p", { class: "hint" }, t("faults.suspects", { names: inSeries(fault.suspects) }))))));
}

const CHANNELS_OPEN = 2;

// What moved most comes first; channels on which nothing moved are folded away.
function evidenceSection(details) {
  const channels = [...(details.channels || [])].sort((a, b) => (b.z ?? -Infinity) - (a.z ?? -Infinity));
  if (!channels.length && !(details.in_words || []).length) return null;
  const still = (channel) => channel.spread && !finite(channel.spread.target).some(Boolean) && !finite(channel.spread.source).some(Boolean);
  const moved = channels.filter((channel) => !still(channel));
  const open = moved.slice(0, CHANNELS_OPEN);
  const folded = channels.filter((channel) => !open.includes(channel));
  const block = (channel) => channelBlock(channel, details.approval);
  return section("evidence.title",
    (details.in_words || []).map((sentence) => el("p", null, say(sentence))),
    details.approval && el("p", { class: "hint" }, t("evidence.approved", { deployment: readable(details.approval.deployment) })),
    open.map(block),
    folded.length > 0 && foldable(t("evidence.more", { count: folded.length }), false, folded.map(block)));
}

function channelBlock(channel, approval) {
  return el("div", { class: "channel" },
    el("h3", null, known("channel", readable(channel.name))),
    el("p", { class: "channel-numbers" }, channelNumbers(channel, approval)),
    channel.sentence && !approval && el("p", null, say(channel.sentence)),
    strip(channel.spread, { width: 420, height: 62, labelled: true, approved: Boolean(approval) }));
}

function channelNumbers(channel, approval) {
  const numbers = [];
  if (Number.isFinite(channel.ratio)) numbers.push(t(approval ? "channel.ratio_approved" : "channel.ratio", { ratio: number(channel.ratio, 1) }));
  if (Number.isFinite(channel.z)) numbers.push(t("channel.z", { z: number(channel.z, 1) }));
  return numbers.join(" · ");
}

function isTroubled(sample) {
  return (sample.attempts || []).length > 1 || sample.group === undefined || sample.group === null;
}

function callsSection(details, answers) {
  const sides = [["source", details.source_samples || [], answers.golden], ["target", details.target_samples || [], answers.candidate]];
  const every = sides.flatMap(([, samples]) => samples);
  if (!every.length) return null;
  const troubled = every.filter(isTroubled).length;
  const title = troubled ? t("calls.title_troubled", { count: every.length, troubled }) : t("calls.title", { count: every.length });
  return el("section", null, foldable(title, troubled > 0, sides.sort((a, b) => Number(b[1].some(isTroubled)) - Number(a[1].some(isTroubled))).filter(([, samples]) => samples.length).map(([side, samples, groups]) =>
    el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": sideName(side, details.approval) },
      callsTable(side, samples, groups, details.approval)))));
}

function callsTable(side, samples, groups, approval) {
  const heads = ["pass", "answer", "finish", "tokens", "first", "duration", "in_flight", "attempts"];
  return el("table", { class: "calls" }, el("caption", null, sideName(side, approval), " ",
    readable(side === "source" && approval ? approval.deployment : report[side].name)),
    el("thead", null, el("tr", null, heads.map((head) => el("th", { scope: "col" }, t(`calls.${head}`))))),
    el("tbody", null, samples.map((sample) => callRow(sample, groups))));
}

// A call that went wrong in any attempt has a second row that says how.
function callRow(sample, groups) {
  const failed = sample.group === undefined || sample.group === null;
  const item = failed ? null : groups[sample.group];
  const attempts = sample.attempts || [];
  const last = attempts[attempts.length - 1];
  const usage = sample.usage || {};
  const varied = sample.variant ? [t("calls.sent", { variant: known("variant", readable(sample.variant)) })] : [];
  const notes = [...varied, ...(sample.notes || []).map((note) => known("note", readable(note)))];
  return [el("tr", { class: isTroubled(sample) ? "troubled" : null },
    el("th", { scope: "row" }, sample.pass_index + 1),
    el("td", null, failed ? el("b", { class: "failed" }, t("calls.failed")) : item ? item.letter : "—"),
    el("td", null, item ? readable(item.group.finish_reason || "—") : "—"),
    el("td", null, usage.prompt_tokens === undefined && usage.completion_tokens === undefined ? "—" : tokensOf(usage)),
    el("td", null, seconds(sample.first_token_s)),
    el("td", null, last ? seconds(last.duration_s) : "—"),
    el("td", null, sample.in_flight === undefined ? "—" : number(sample.in_flight)),
    el("td", null, attempts.length ? number(attempts.length) : "—")),
  (isTroubled(sample) && attempts.length > 0 || notes.length > 0) && el("tr", { class: isTroubled(sample) ? "troubled why" : "why" },
    el("td", { colspan: 8 }, isTroubled(sample) && attemptList(attempts), notes.join(" · ")))];
}

function tokensOf(usage) {
  const extra = [
    usage.reasoning_tokens && t("calls.reasoning_tokens", { count: number(usage.reasoning_tokens) }),
    usage.cached_tokens && t("calls.cached_tokens", { count: number(usage.cached_tokens) }),
  ].filter(Boolean);
  return `${number(usage.prompt_tokens)} → ${number(usage.completion_tokens)}${extra.length ? ` (${extra.join(", ")})` : ""}`;
}

function attemptList(attempts) {
  return el("ol", { class: "attempt-list" }, attempts.map((attempt) => el("li", { class: attempt.problem ? "failed" : null },
    [attempt.status && !String(attempt.problem || "").startsWith("HTTP") && `HTTP ${attempt.status}`, seconds(attempt.duration_s), attempt.problem ? readable(attempt.problem) : t("calls.answered")]
      .filter(Boolean).join(" · "))));
}

function requestSection(details) {
  const messages = details.messages || [];
  const source = details.source_params || {};
  const target = details.target_params || {};
  const names = [...new Set([...Object.keys(source), ...Object.keys(target)])];
  if (!messages.length && !names.length) return null;
  return el("section", null, foldable(t(details.context ? "context.conversation" : "request.title"), false,
    messages.map((message, place) => el("div", { class: unsentTo(details, place).length ? "message unsent" : "message" },
      el("h4", null, [details.context && `${place}`, readable(known("role", String(message.role || ""))), ...unsentTo(details, place)].filter(Boolean).join(" · ")),
      textBlock(messageText(message), { class: looksLikeCode(messageText(message)) ? "code" : "" }))),
    names.length > 0 && el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": t("request.params") }, el("table", { class: "settings" },
      el("caption", null, t("request.params")),
      el("thead", null, el("tr", null, el("td"), el("th", { scope: "col" }, t("side.source")), el("th", { scope: "col" }, t("side.target")))),
      el("tbody", null, names.map((name) => paramRow(name, source[name], target[name])))))));
}

function paramRow(name, left, right) {
  const differs = JSON.stringify(left) !== JSON.stringify(right);
  const cell = (value) => el("td", { class: differs ? "differs" : null },
    value === undefined ? el("span", { class: "absent" }, t("deployments.absent")) : readable(typeof value === "string" ? value : JSON.stringify(value)));
  return el("tr", { class: differs ? "differs" : null },
    el("th", { scope: "row" }, differs && el("span", { class: "unequal" }, "≠"), el("code", null, readable(name))), cell(left), cell(right));
}

function messageText(message) {
  if (typeof message.content === "string" && Object.keys(message).length <= 2) return message.content;
  const { role, ...rest } = message;
  return JSON.stringify(rest, null, 2);
}
