"use strict";
(() => {
  const form = document.getElementById("filter");
  const field = document.getElementById("q");
  const shown = document.getElementById("shown");
  const chips = [...form.querySelectorAll("button")];
  const rows = [...document.querySelectorAll("[data-text]")];
  const bodies = [...document.querySelectorAll(".matrix tbody, .group")];
  const all = rows.filter((row) => row.tagName === "TR").length;

  const apply = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdicts = chips.filter((chip) => chip.getAttribute("aria-pressed") === "true").map((chip) => chip.value);
    let count = 0;
    for (const row of rows) {
      const text = row.dataset.text;
      const ends = row.dataset.ends.split(" ");
      const fits = words.every((word) => text.includes(word))
        && (verdicts.length === 0 || verdicts.some((verdict) => ends.includes(verdict)));
      row.hidden = !fits;
      if (fits && row.tagName === "TR") count += 1;
    }
    for (const body of bodies) body.hidden = !body.querySelector("[data-text]:not([hidden])");
    shown.textContent = count === all ? `${all} techniques` : `${count} of ${all} techniques`;
  };

  const open = () => {
    const hash = decodeURIComponent(location.hash.slice(1));
    if (hash.startsWith("filter=")) {
      const [words, ...verdicts] = hash.slice(7).split("&");
      field.value = words;
      for (const chip of chips) chip.setAttribute("aria-pressed", String(verdicts.includes(chip.value)));
      apply();
      return;
    }
    const target = hash && document.getElementById(hash);
    const details = target && target.closest("details");
    if (!details) return;
    details.hidden = false;
    details.open = true;
    target.scrollIntoView();
  };

  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  field.addEventListener("input", apply);
  for (const chip of chips) {
    chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
      apply();
    });
  }
  addEventListener("hashchange", open);
  apply();
  open();
})();
