"use strict";
(() => {
  const root = document.documentElement, toggle = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (system.matches ? "dark" : "light")) === "dark";
  toggle.hidden = false;
  toggle.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; });

  addEventListener("beforeprint", () => {
    for (let late; (late = document.querySelector("details.late:not(.wide,[open])"));) unfold(late);
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
    const body = head.closest("table").tBodies[0], rest = head.closest(".scroll").nextElementSibling;
    if (rest?.matches("details.rest")) unfold(rest);
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

  // Copies: of figures and tables as they stand here, with what they rest on and when they were made.
  const element = (name, given, ...inside) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(given)) made.setAttribute(key, value);
    made.append(...inside);
    return made;
  };
  const aside = "button[aria-label],a[aria-label],a[href$='#plan'],svg,:is(td,th) details"; // no part of a picture
  const words = (node) => {
    const copy = node.cloneNode(true);
    for (const out of copy.querySelectorAll(`${aside},.more`)) out.remove();
    return copy.textContent.replace(/\s+/g, " ").trim();
  };
  const made = () => [document.title, document.querySelector("#made, #state")?.textContent].filter(Boolean).join(", ");
  const wrapped = (text, width) => {
    const lines = [""];
    for (const word of text.split(" ")) {
      const line = `${lines[lines.length - 1]} ${word}`.trim();
      if (line.length * 6.2 > width && lines[lines.length - 1]) lines.push(word);
      else lines[lines.length - 1] = line;
    }
    return lines;
  };
  const plotOf = (plot) => {
    const copy = plot.cloneNode(true), from = [...plot.querySelectorAll("*")];
    [...copy.querySelectorAll("*")].forEach((node, place) => {
      const style = getComputedStyle(from[place]);
      for (const name of ["fill", "stroke", "stroke-width"]) if (node.hasAttribute(name) || node.hasAttribute("class")) node.setAttribute(name, style[name]);
    });
    return { width: +plot.getAttribute("width"), height: +plot.getAttribute("height"), drawn: [...copy.childNodes] };
  };
  const tableOf = (table) => {
    table.parentNode.scrollLeft = 0;
    const caption = table.caption?.getBoundingClientRect(), whole = table.getBoundingClientRect(), drawn = [];
    const left = whole.left, top = caption ? caption.bottom : whole.top;
    for (const cell of table.querySelectorAll("th,td")) {
      const box = cell.getBoundingClientRect(), style = getComputedStyle(cell);
      if (!box.width) continue;
      const place = { x: box.left - left, y: box.top - top, width: box.width, height: box.height };
      if (style.backgroundColor !== "rgba(0, 0, 0, 0)") drawn.push(element("rect", { ...place, fill: style.backgroundColor }));
      for (const plot of cell.querySelectorAll("svg")) {
        const { x, y } = plot.getBoundingClientRect();
        drawn.push(element("g", { transform: `translate(${x - left} ${y - top})` }, ...plotOf(plot).drawn));
      }
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), range = document.createRange();
      for (let text; (text = texts.nextNode());) {
        if (!text.data.trim() || text.parentNode.closest(aside)) continue;
        const own = getComputedStyle(text.parentNode), lines = [];
        [...text.data].reduce((at, sign) => {
          range.setStart(text, at);
          range.setEnd(text, at + sign.length);
          const spot = range.getBoundingClientRect(), last = lines[lines.length - 1];
          const turned = own.writingMode !== "horizontal-tb", edge = turned ? "right" : "bottom";
          if (spot.width && last && Math.abs(last.spot[edge] - spot[edge]) < 3) last.text += sign;
          else if (spot.width) lines.push({ spot, text: sign, turned });
          return at + sign.length;
        }, 0);
        for (const { spot, text: line, turned } of lines) {
          const x = (turned ? spot.left + 3 : spot.left) - left, y = (turned ? spot.top : spot.bottom - 4) - top;
          drawn.push(element("text", { transform: `translate(${x} ${y})${turned ? "rotate(90)" : ""}`, fill: own.color,
            "font-size": own.fontSize, "font-weight": own.fontWeight }, line.trimEnd().replace(/\p{Cc}|\p{Cs}/gu, "")));
        }
      }
    }
    return { width: whole.width, height: whole.bottom - top, drawn };
  };
  const markdownOf = (table) => {
    const line = (cells) => `| ${cells.map((cell) => words(cell).replace(/[\\|*`<]/g, "\\$&")).join(" | ")} |`;
    const kept = [...table.tHead.rows[0].cells].map((head) => !head.classList.contains("figure"));
    const of = (row) => [...row.cells].filter((_, place) => kept[place]);
    const heads = of(table.tHead.rows[0]), rules = heads.map((head) => head.classList.contains("n") ? "---:" : "---");
    const about = [table.caption, table.parentNode.querySelector(":scope > p")].map((one) => one ? words(one) : "");
    return [`**${table.parentNode.getAttribute("aria-label")}**`, about[0], [line(heads), `| ${rules.join(" | ")} |`, ...[...table.tBodies[0].rows].map((row) => line(of(row)))].join("\n"), about[1]].filter(Boolean).join("\n\n");
  };
  const kinds = {
    Markdown: (source) => {
      const held = source.querySelector("template.md");
      return `${held ? held.content.textContent : markdownOf(source.querySelector("table"))}\n\n${made()}\n`;
    },
    SVG: (source) => {
      const table = source.querySelector("table"), { width, height, drawn } = table ? tableOf(table) : plotOf(source.querySelector(".plot"));
      const style = getComputedStyle(document.body), head = source.querySelector("figcaption,caption");
      const name = source.getAttribute("aria-label");
      const title = wrapped([name, head ? words(head) : ""].filter(Boolean).join(". "), width);
      const note = [...(source.querySelector(":scope > p") ? wrapped(words(source.querySelector(":scope > p")), width) : []), ...wrapped(made(), width)];
      const top = 12 + 15 * title.length, all = top + height + 10 + 14 * note.length;
      const lines = (texts, y, step, more) => texts.map((text, place) => element("text", { x: 10, y: y + step * place, ...more }, text));
      const body = element("g", { transform: `translate(10 ${top})` }, ...drawn);
      const svg = element("svg", { width: width + 20, height: all, viewBox: `0 0 ${width + 20} ${all}`, fill: "none",
        "font-family": style.fontFamily, "font-size": 11 },
      element("rect", { width: "100%", height: "100%", fill: style.backgroundColor }),
      ...lines(title, 16, 15, { fill: style.color, "font-weight": 600 }), body,
      ...lines(note, top + height + 14, 14, { fill: getComputedStyle(source.querySelector(".dim,caption,figcaption") ?? source).color }));
      return new XMLSerializer().serializeToString(svg);
    },
    PNG: async (source) => {
      const image = new Image();
      image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(kinds.SVG(source))}`;
      await image.decode();
      const canvas = document.createElement("canvas");
      const scale = Math.min(2, 16000 / Math.max(image.width, image.height));
      [canvas.width, canvas.height] = [scale * image.width, scale * image.height];
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      return new Promise((done) => { canvas.toBlob(done, "image/png"); });
    },
  };
  const types = { Markdown: ["text/plain", "md"], SVG: ["image/svg+xml", "svg"], PNG: ["image/png", "png"] };
  const hand = async (source, kind, status) => {
    const [type, ending] = types[kind], content = await kinds[kind](source), blob = new Blob([content], { type });
    try {
      if (kind === "PNG") await navigator.clipboard.write([new ClipboardItem({ [type]: blob })]);
      else await navigator.clipboard.writeText(content);
      status.textContent = "copied";
    } catch { // no clipboard here: a file
      const link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = `figure.${ending}`;
      link.click();
      URL.revokeObjectURL(link.href);
      status.textContent = "saved as a file";
    }
  };
  const copyable = (root) => {
    for (const source of root.querySelectorAll("figure.copy:has(.plot), .scroll:has(table)")) {
      const open = document.createElement("button"), name = words(source.querySelector("figcaption") ?? source).slice(0, 60);
      const bar = document.createElement("div");
      bar.className = "copies";
      open.type = "button";
      open.textContent = "Copy";
      open.setAttribute("aria-label", `Copy ${source.getAttribute("aria-label") ?? name}`);
      bar.append(open);
      open.addEventListener("click", () => {
        const status = document.createElement("span");
        status.setAttribute("role", "status");
        const buttons = Object.keys(types).map((kind) => {
          const button = document.createElement("button");
          button.type = "button";
          button.textContent = kind === "Markdown" ? "Markdown table" : kind;
          button.addEventListener("click", () => hand(source, kind, status));
          return button;
        });
        bar.replaceChildren("Copy as ", ...buttons, status);
        buttons[0].focus();
      });
      if (source.matches("figure")) source.append(bar);
      else (source.nextElementSibling?.matches("details.rest") ? source.nextElementSibling : source).after(bar);
    }
  };
  const prepare = (root) => { for (const added of [sortable, copyable, watch]) added(root); };

  // What stands in a noscript element is text, and costs nothing before it is opened.
  const unfold = (late) => {
    const held = late.querySelector(":scope > noscript, :scope > div");
    const template = document.createElement("template"), content = template.content;
    if (held?.localName === "noscript") template.innerHTML = held.textContent;
    else if (held && late.matches(".rest")) content.append(...held.childNodes);
    if (late.matches(".rest")) {
      late.previousElementSibling.querySelector("tbody").append(...content.querySelectorAll("tbody > tr"));
      return late.remove();
    }
    late.open = true;
    if (held?.localName !== "noscript") return;
    prepare(content);
    held.replaceWith(content);
  };
  const watch = (root) => {
    for (const late of root.querySelectorAll("details.late")) {
      late.addEventListener("toggle", () => { if (late.open) unfold(late); });
    }
  };
  const reveal = () => {
    const id = decodeURIComponent(location.hash.slice(1)), there = () => document.getElementById(id);
    if (!id || there()) return;
    for (const late of document.querySelectorAll("details.late")) {
      if (!late.querySelector("noscript")?.textContent.includes(` id="${id}"`)) continue;
      unfold(late);
      return there()?.scrollIntoView();
    }
  };
  prepare(document);
  document.addEventListener("added", (event) => prepare(event.target));
  addEventListener("hashchange", reveal);
  reveal();
})();
