"use strict";
(() => {
  const root = document.documentElement, toggle = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  toggle.hidden = false;
  toggle.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; });

  addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll("details:not(.late)")) folded.open = true;
  });

  const key = (row, place) => {
    const cell = row.cells[place], text = cell.dataset.v ?? cell.textContent.trim();
    const number = text === "" ? NaN : Number(text);
    return { text, number, missing: text === "" };
  };
  const compare = (a, b) => Number.isNaN(a.number) || Number.isNaN(b.number)
    ? a.text.localeCompare(b.text, "en", { numeric: true }) : a.number - b.number;
  const sort = (head, place) => {
    const body = head.closest("table").tBodies[0];
    const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    const rows = [...body.rows].map((row) => ({ row, key: key(row, place) }));
    rows.sort((a, b) => a.key.missing - b.key.missing
      || (a.key.missing ? 0 : sign * compare(a.key, b.key)));
    for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", sign === 1 ? "ascending" : "descending");
    body.append(...rows.map((item) => item.row));
  };
  const sortable = (root) => {
    for (const table of root.querySelectorAll("table.sortable")) {
      [...table.tHead.rows[0].cells].forEach((head, place) => {
        if (head.classList.contains("figure")) return;
        const button = document.createElement("button"), link = head.querySelector("a");
        button.type = "button";
        if (link) {
          button.textContent = "\u2195";
          button.setAttribute("aria-label", `Sort by ${link.textContent}`);
        } else button.append(...head.childNodes);
        head.append(button);
        button.addEventListener("click", () => sort(head, place));
      });
    }
  };
  sortable(document);

  // What stands in a template costs nothing before it is opened.
  for (const late of document.querySelectorAll("details.late")) {
    late.addEventListener("toggle", () => {
      const template = late.querySelector("template");
      if (!template) return;
      const content = template.content.cloneNode(true);
      sortable(content);
      template.replaceWith(content);
    });
  }
})();
