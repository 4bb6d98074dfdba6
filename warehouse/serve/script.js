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
