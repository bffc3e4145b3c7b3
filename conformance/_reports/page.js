"use strict";
// Filters and the theme. Without this script the page shows everything.
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");

  const theme = document.getElementById("ui-theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  const label = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    label();
  });
  system.addEventListener("change", label);
  label();

  const search = document.getElementById("ui-search");
  const chips = [...document.querySelectorAll("[data-chip]")];
  const found = document.getElementById("ui-found");
  const nothing = document.getElementById("ui-nothing");
  const items = [...document.querySelectorAll("[data-status]")].map((element) => {
    const group = element.closest("[data-group]");
    const head = group && group !== element ? group.querySelector("summary").textContent : "";
    return {
      element,
      group,
      statuses: element.dataset.status.split(" "),
      text: (head + " " + element.textContent).toLowerCase(),
    };
  });
  const folds = [...document.querySelectorAll("[data-fold]")];
  const groups = [...new Set(items.map((item) => item.group))].filter(Boolean);

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const pressed = chips
      .filter((chip) => chip.getAttribute("aria-pressed") === "true")
      .map((chip) => chip.dataset.chip);
    const shown = new Set();
    let count = 0;
    for (const item of items) {
      const fits = words.every((word) => item.text.includes(word))
        && (pressed.length === 0 || item.statuses.some((status) => pressed.includes(status)));
      item.element.hidden = !fits;
      if (fits) {
        count += 1;
        shown.add(item.group);
      }
    }
    for (const group of groups) {
      group.hidden = !shown.has(group);
      if (group.tagName === "DETAILS" && (words.length || pressed.length)) group.open = true;
    }
    for (const fold of folds) {
      fold.hidden = !fold.querySelector("[data-status]:not([hidden])");
      fold.open = words.length > 0 || pressed.length > 0;
    }
    found.textContent = count + " of " + items.length;
    nothing.hidden = count > 0;
  };

  search.addEventListener("input", filter);
  for (const chip of chips) {
    chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
      filter();
    });
  }
  for (const button of document.querySelectorAll("[data-open]")) {
    button.addEventListener("click", () => {
      for (const group of groups) group.open = button.dataset.open === "yes";
    });
  }
  addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== search) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && document.activeElement === search) {
      search.value = "";
      filter();
    }
  });

  const reveal = () => {
    let name = location.hash.slice(1);
    try {
      name = decodeURIComponent(name);
    } catch { /* a lone percent sign: take the fragment as it is */ }
    const element = name && document.getElementById(name);
    if (!element) return;
    for (let at = element; at; at = at.parentElement) {
      if (at.tagName === "DETAILS") at.open = true;
    }
    element.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  filter();
  reveal();
})();
