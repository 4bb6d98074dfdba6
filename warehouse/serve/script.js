(() => {
  "use strict";
  for (const button of document.querySelectorAll("button.copy")) {
    if (!navigator.clipboard) continue;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.parentNode.querySelector("code").textContent);
      button.textContent = "Copied";
    });
  }
})();
(() => {
  "use strict";
  // A page that is not whole yet asks again, and takes what has come, unless somebody is at work in it.
  const later = async () => {
    const main = document.querySelector("main[data-again]");
    if (!main) return;
    const page = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
    const next = page.querySelector("main");
    if (next && !(document.activeElement && main.contains(document.activeElement))) main.replaceWith(next);
    setTimeout(later, 1000 * main.dataset.again);
  };
  const first = document.querySelector("main[data-again]");
  if (first) setTimeout(later, 1000 * first.dataset.again);
})();
