// Language and theme of pages without a payload. All texts stand in the page already, in both languages.
(() => {
  "use strict";
  const root = document.documentElement;
  const buttons = [...document.querySelectorAll("[data-for]")];
  const themes = ["auto", "light", "dark"];
  const mark = () => {
    const shown = { language: root.lang === "zh-CN" ? "zh" : "en", theme: root.dataset.theme || "auto" };
    for (const button of buttons) button.setAttribute("aria-pressed", String(shown[button.dataset.for] === button.value));
    document.title = root.lang === "zh-CN" ? root.dataset.titleZh : root.dataset.titleEn;
  };
  const choose = (kind, value) => {
    if (kind === "language") root.lang = value === "zh" ? "zh-CN" : "en";
    else if (themes.indexOf(value) > 0) root.dataset.theme = value;
    else delete root.dataset.theme;
    mark();
  };
  if (root.dataset.language === "auto") choose("language", navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en");
  for (const button of buttons) button.addEventListener("click", () => choose(button.dataset.for, button.value));
  for (const controls of document.querySelectorAll(".controls")) controls.hidden = false;
  mark();
})();
