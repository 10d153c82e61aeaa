// Puts the page together and listens: address, keys, theme, language.

function headerBar() {
  return el("header", { class: "bar-top" },
    el("a", { class: "skip", href: "#main", onclick: (event) => { event.preventDefault(); byId("main").focus(); } }, t("skip")),
    button(null, { class: "brand", title: t("overview.open"), onclick: () => openCase(null) }, el("b", null, "promptreg"),
      el("span", { class: "route" }, readable(report.source.name), el("span", { class: "arrow" }, " → "), readable(report.target.name))),
    el("div", { class: "controls" },
      el("div", { class: "switch", role: "group", "aria-label": t("language.label") }, [["en", "EN"], ["zh", "中文"]].map(([language, label]) =>
        button(label, { lang: language === "zh" ? "zh-CN" : "en", "aria-pressed": state.language === language ? "true" : "false",
          onclick: () => setLanguage(language) }))),
      button(t("theme.label", { theme: t(`theme.${state.theme}`) }), { class: "icon", id: "theme", title: t(`theme.${state.theme}`), onclick: nextTheme }, themeIcon()),
      button(t("help.open"), { class: "icon", onclick: openHelp }, "?")));
}

function themeIcon() {
  const shapes = {
    auto: [svg("circle", { cx: 9, cy: 9, r: 6.2, class: "outline" }), svg("path", { d: "M9 2.8a6.2 6.2 0 0 1 0 12.4z" })],
    light: [svg("circle", { cx: 9, cy: 9, r: 3.4 }), svg("path", { class: "outline",
      d: "M9 1.6v2M9 14.4v2M1.6 9h2M14.4 9h2M3.8 3.8l1.4 1.4M12.8 12.8l1.4 1.4M3.8 14.2l1.4-1.4M12.8 5.2l1.4-1.4" })],
    dark: [svg("path", { d: "M14.6 11.2A6.3 6.3 0 0 1 6.8 3.4a6.3 6.3 0 1 0 7.8 7.8z" })],
  };
  return svg("svg", { viewBox: "0 0 18 18", width: 18, height: 18, "aria-hidden": "true" }, shapes[state.theme]);
}

function setLanguage(language) {
  state.language = language;
  remember("language", language);
  build();
  document.querySelector(".controls .switch [aria-pressed=true]").focus();
}

function nextTheme() {
  const themes = ["auto", "light", "dark"];
  state.theme = themes[(themes.indexOf(state.theme) + 1) % themes.length];
  remember("theme", state.theme);
  applyTheme();
  const old = byId("theme");
  old.setAttribute("aria-label", t("theme.label", { theme: t(`theme.${state.theme}`) }));
  old.title = t(`theme.${state.theme}`);
  replace(old, themeIcon());
}

function applyTheme() {
  if (state.theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = state.theme;
}

function openCase(entry) {
  const address = addressOf(entry);
  if (location.hash === address) return;
  location.hash = address;
}

// The address is the one source of what is shown: links, buttons and keys only change it.
function addressChanged() {
  const before = JSON.stringify([state.query, state.sort]);
  const inList = byId("case-rows").contains(document.activeElement);
  readAddress();
  updateAddress();
  if (JSON.stringify([state.query, state.sort]) !== before) {
    byId("search").value = state.query;
    applyFilter();
  }
  renderMain(true).then(() => {
    if (inList && !NARROW.matches) focusRow(state.open && state.open.entry);
    // What had the focus may be gone; on narrow screens the list is hidden behind the case.
    if (document.activeElement === document.body || NARROW.matches) byId("main").querySelector("h1")?.focus({ preventScroll: true });
  });
}

function renderMain(moved) {
  document.body.dataset.showing = state.open ? "case" : "overview";
  document.title = state.open ? `${readable(state.open.asked)} · ${readable(report.title)}` : readable(report.title);
  if (moved) scrollTo(0, 0);
  paintRows();
  revealOpen();
  paintBar();
  if (!state.open) {
    opening += 1;
    replace(byId("main"), overview());
    return Promise.resolve();
  }
  return renderCase();
}

const NARROW = matchMedia("(max-width: 899px)");

// Reading order follows what is seen: on wide screens the list stands left of the page, on narrow ones below it.
function placeRail() {
  const app = byId("app");
  if (NARROW.matches) app.append(byId("rail"));
  else byId("stage").before(byId("rail"));
}

function build() {
  document.documentElement.lang = htmlLang();
  replace(byId("app"), headerBar(), railSkeleton(),
    el("div", { id: "stage" }, el("main", { id: "main", tabindex: -1 }), barSkeleton()), helpDialog());
  placeRail();
  byId("rows-box").addEventListener("scroll", paintWindow, { passive: true });
  applyFilter();
  renderMain(false);
}

function stepAnswer(step) {
  const buttons = [...document.querySelectorAll('.answer[data-side="target"]')];
  const index = buttons.findIndex((one) => one.getAttribute("aria-pressed") === "true");
  if (buttons[index + step]) buttons[index + step].click();
}

registerKeys("help.moving", [
  { keys: ["j"], help: "help.next_case", act: () => openCaseIf(neighbour(1)) },
  { keys: ["k"], help: "help.previous_case", act: () => openCaseIf(neighbour(-1)) },
  { keys: ["/"], help: "help.search", act: () => { byId("search").focus(); byId("search").select(); } },
  { keys: [], show: ["↑", "↓"], help: "help.list" },
  { keys: ["o", "Escape"], show: ["o", "Esc"], help: "help.overview", act: () => openCase(null) },
]);
registerKeys("help.case", [
  { keys: ["ArrowLeft", "ArrowRight"], show: ["←", "→"], help: "help.answers", when: () => state.open,
    act: (event) => stepAnswer(event.key === "ArrowRight" ? 1 : -1) },
  { keys: ["d", "v"], help: "help.view", when: () => state.open, act: () => setView(VIEWS[(VIEWS.indexOf(state.view) + 1) % VIEWS.length]) },
  { keys: VIEWS.map((_, index) => String(index + 1)), show: ["1", "–", String(VIEWS.length)], help: "help.views", when: () => state.open,
    act: (event) => setView(VIEWS[event.key - 1]) },
  { keys: ["e"], help: "help.unfold", when: () => state.open, act: () => { state.unfolded = !state.unfolded; renderCase(); } },
]);
registerKeys("help.page", [
  { keys: ["t"], help: "help.theme", act: nextTheme },
  { keys: ["l"], help: "help.language", act: () => setLanguage(state.language === "zh" ? "en" : "zh") },
  { keys: ["?"], help: "help.help", act: openHelp },
]);

function openCaseIf(entry) {
  if (entry) openCase(entry);
}

function start() {
  restoreChoices();
  startDeciding();
  readAddress();
  applyTheme();
  build();
  byId("static").remove();
  byId("app").hidden = false;
  document.body.classList.add("live");
  addEventListener("hashchange", addressChanged);
  addEventListener("keydown", keyPressed);
  addEventListener("scroll", paintWindow, { passive: true });
  addEventListener("resize", () => { paintWindow(); });
  NARROW.addEventListener("change", () => { placeRail(); if (state.open) renderCase(); });
}

start();
