// Small pictures, drawn as SVG elements: verdict marks, the noise-against-drift strip, the overview of all cases.

const VERDICTS = ["fail", "drift", "error", "missing", "new", "changed", "waived", "pass"];

// One shape per verdict, the same in lists, chips and pictures, so that colour is never the only sign.
function shapeOf(verdict, x, y, r) {
  const at = (dx, dy) => `${x + dx * r},${y + dy * r}`;
  const shapes = {
    fail: () => svg("polygon", { points: `${at(-1, -0.8)} ${at(1, -0.8)} ${at(0, 1)}` }),
    drift: () => svg("polygon", { points: `${at(0, -1.1)} ${at(1.1, 0)} ${at(0, 1.1)} ${at(-1.1, 0)}` }),
    error: () => svg("path", { d: `M${at(-0.8, -0.8)} L${at(0.8, 0.8)} M${at(0.8, -0.8)} L${at(-0.8, 0.8)}`, class: "line" }),
    missing: () => svg("rect", { x: x - r * 0.8, y: y - r * 0.8, width: r * 1.6, height: r * 1.6, class: "hollow" }),
    new: () => svg("path", { d: `M${at(0, -1)} L${at(0, 1)} M${at(-1, 0)} L${at(1, 0)}`, class: "line" }),
    changed: () => svg("circle", { cx: x, cy: y, r: r * 0.8, class: "hollow" }),
    waived: () => svg("polygon", { points: `${at(0, -1)} ${at(1, 0)} ${at(0, 1)} ${at(-1, 0)}`, class: "hollow" }),
    pass: () => svg("circle", { cx: x, cy: y, r: r * 0.62 }),
  };
  const shape = (shapes[verdict] || shapes.pass)();
  shape.classList.add("shape", `v-${VERDICTS.includes(verdict) ? verdict : "pass"}`);
  return shape;
}

function verdictMark(verdict) {
  return svg("svg", { class: "verdict-mark", viewBox: "0 0 14 14", width: 14, height: 14, "aria-hidden": "true" },
    shapeOf(verdict, 7, 7, 5));
}

function chip(verdict) {
  return el("span", { class: `chip v-${verdict}` }, verdictMark(verdict), known("verdict", verdict));
}

function finite(values) {
  return (values || []).filter((value) => Number.isFinite(value));
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

// The source's own spread as a band, the target's answers as points. All distances share one axis from 0.
function strip(spread, options) {
  const source = finite(spread && spread.source);
  const target = finite(spread && spread.target);
  if (!source.length || !target.length) return null;
  const { width, height, labelled } = options;
  const pad = labelled ? 10 : width > 200 ? 6 : 4;
  const most = Math.max(...source, ...target, 1e-9);
  const x = (value) => pad + (value / most) * (width - 2 * pad);
  const middle = labelled ? height / 2 - 8 : height / 2;
  const low = x(Math.min(...source));
  const high = x(Math.max(...source));
  const band = labelled ? 18 : width > 200 ? 12 : 8;
  const label = t(options.approved ? "strip.label_approved" : "strip.label", {
    low: number(Math.min(...source)), high: number(Math.max(...source)), target: number(mean(target)),
  });
  return svg("svg", { class: `strip${labelled ? " labelled" : width > 200 ? " long" : ""}`, viewBox: `0 0 ${width} ${height}`, width, height,
    role: "img", "aria-label": label },
  svg("line", { class: "axis", x1: pad, x2: width - pad, y1: middle, y2: middle }),
  svg("rect", { class: "band", x: low - 2, y: middle - band / 2, width: Math.max(4, high - low + 4), height: band, rx: 3 }),
  labelled && source.map((value) => svg("line",
    { class: "tick", x1: x(value), x2: x(value), y1: middle - band / 2 + 3, y2: middle + band / 2 - 3 })),
  target.map((value) => svg("circle", { class: value > Math.max(...source) ? "point out" : "point",
    cx: x(value), cy: middle, r: labelled ? 4.5 : width > 200 ? 4 : 2.6 })),
  labelled && [
    svg("text", { class: "scale", x: pad, y: height - 4 }, "0"),
    svg("text", { class: "scale end", x: width - pad, y: height - 4 }, number(most)),
    svg("text", { class: "scale mid", x: width / 2, y: height - 4 }, t(options.approved ? "strip.axis_approved" : "strip.axis")),
  ]);
}

// Round numbers from 0, at most four of them, none beyond the largest value.
function ticksOf(most) {
  const power = 10 ** Math.floor(Math.log10(most / 2));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => most / one < 4);
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step);
}

const SCATTER_POINTS = 900;

// Every case: across, how far the source's own answers lie apart; up, how far the target's lie from them.
function scatter(cases, open) {
  const points = cases.filter((entry) => Number.isFinite(entry.noise) && Number.isFinite(entry.distance))
    .slice(0, SCATTER_POINTS).map((entry) => ({ entry, x: entry.noise, y: entry.distance }));
  if (points.length < 2) return null;
  const size = { width: 420, height: 184, left: 40, right: 14, top: 28, bottom: 34 };
  const most = Math.max(...points.map((point) => Math.max(point.x, point.y)), 1e-9) * 1.06;
  const x = (value) => size.left + (value / most) * (size.width - size.left - size.right);
  const y = (value) => size.height - size.bottom - (value / most) * (size.height - size.top - size.bottom);
  const steps = ticksOf(most);
  // Last drawn lies on top: the worst case must not hide under a passing one.
  return svg("svg", { class: "scatter", viewBox: `0 0 ${size.width} ${size.height}`, role: "img",
    "aria-label": t("scatter.label", { count: points.length }) },
  svg("polygon", { class: "calm", points: `${x(0)},${y(0)} ${x(most)},${y(most)} ${x(most)},${y(0)}` }),
  svg("line", { class: "diagonal", x1: x(0), y1: y(0), x2: x(most), y2: y(most) }),
  svg("line", { class: "axis", x1: x(0), y1: y(0), x2: x(most), y2: y(0) }),
  svg("line", { class: "axis", x1: x(0), y1: y(0), x2: x(0), y2: y(most) }),
  steps.map((step) => [
    svg("text", { class: "scale mid", x: x(step), y: y(0) + 14 }, number(step)),
    svg("text", { class: "scale end", x: x(0) - 5, y: y(step) + 4 }, number(step)),
  ]),
  svg("text", { class: "scale mid", x: x(most / 2), y: size.height - 4 }, t("scatter.x")),
  svg("text", { class: "scale y-label", x: 2, y: 11 }, t("scatter.y")),
  svg("text", { class: "scale end calm-label", x: x(most) - 6, y: y(0) - 8 }, t("scatter.calm")),
  points.reverse().map((point) => svg("g", { class: "dot", onclick: () => open(point.entry) },
    svg("title", null, `${readable(point.entry.case_id)} · ${known("verdict", point.entry.verdict)}`),
    svg("circle", { class: "hit", cx: x(point.x), cy: y(point.y), r: 9 }),
    shapeOf(point.entry.verdict, x(point.x), y(point.y), 5))));
}
