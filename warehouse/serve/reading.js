(() => {
  "use strict";
  const follow = (selector) => document.querySelector(selector)?.click();
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
    const step = { j: 1, k: -1 }[event.key];
    if (step) {
      const flips = [...document.querySelectorAll("article.flip")];
      const at = flips.findIndex((one) => one.contains(document.activeElement));
      const next = flips[at < 0 && step < 0 ? -1 : at + step];
      if (next) next.focus();
      else follow(step > 0 ? "a[rel=next]" : "a[rel=prev]");
    } else if (event.key === "o") follow("a.other");
    else if (event.key === "Enter" && event.target.matches("article.flip")) event.target.querySelector("a.open").click();
    else return;
    event.preventDefault();
  });
})();
