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
  // The heat table scrolls in its own room: windows of rows that come near are fetched, those far away give their place
  // to a gap of their height; windows of columns are added as their edge comes into sight.
  const MOST_WINDOWS = 5, MOST_COLUMNS = 240;
  const scrolled = (main) => {
    const nav = main.querySelector("nav.pages[data-rows]"), room = main.querySelector(".heat");
    if (!nav || !room || room.dataset.rows) return;
    const table = room.querySelector("table"), first = table.tBodies[0], size = first.rows.length;
    const { row, rows, column, columns } = Object.fromEntries(Object.entries(nav.dataset).map(([name, text]) => [name, +text]));
    const wide = table.tHead.rows[0].cells.length - 1;
    if (!size || row % size && row + size < rows) return;
    const parts = new Map(), loaded = new Set(), starts = [column];
    const tall = Math.max(first.offsetHeight / size, 20);
    const part = (at, left) => {
      const key = `${at} ${left}`, address = new URL(location.href);
      address.hash = "";
      for (const [name, value] of [["row", at], ["column", left]]) address.searchParams.set(name, value);
      if (!parts.has(key)) parts.set(key, fetch(address).then((answer) => answer.text())
        .then((text) => new DOMParser().parseFromString(text, "text/html").querySelector(".heat table")));
      return parts.get(key);
    };
    const joined = (several) => several[0].map((one, place) => {
      const made = document.importNode(one, true);
      for (const other of several.slice(1)) made.append(...[...document.importNode(other[place], true).cells].slice(1));
      return made;
    });
    const number = (lines, at) => lines.forEach((line, place) => { line.ariaRowIndex = at + place + 2; });
    const gap = (body, height) => {
      const space = document.createElement("tr");
      space.ariaHidden = "true";
      space.append(document.createElement("td"));
      space.style.height = `${height}px`;
      body.replaceChildren(space);
      loaded.delete(body);
    };
    const load = async (body) => {
      loaded.delete(body);
      loaded.add(body);
      const tables = await Promise.all(starts.map((left) => part(+body.dataset.row, left)));
      if (!loaded.has(body) || tables.includes(null)) return;
      if (body.contains(document.activeElement) && body.rows[0].cells.length > tables.length * wide) return;
      const lines = joined(tables.map((one) => [...one.tBodies[0].rows]));
      number(lines, +body.dataset.row);
      if (!body.contains(document.activeElement)) body.replaceChildren(...lines);
      else lines.forEach((line, place) => body.rows[place].append(...[...line.cells].slice(body.rows[place].cells.length)));
      const far = [...loaded].find((one) => one !== body && !near.has(one) && !one.contains(document.activeElement));
      if (loaded.size > MOST_WINDOWS && far) gap(far, far.offsetHeight);
    };
    const near = new Set();
    const seen = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        near[isIntersecting ? "add" : "delete"](target);
        if (isIntersecting && !loaded.has(target)) load(target);
      }
    }, { root: room, rootMargin: "300px 100000px" });
    const heads = async () => {
      const tables = await Promise.all(starts.map((left) => part(row, left)));
      if (tables.includes(null)) return;
      table.tHead.replaceChildren(...joined(tables.map((one) => [one.tHead.rows[0]])));
      edge.disconnect();
      const next = column + table.tHead.rows[0].cells.length - 1;
      if (next < Math.min(columns, MOST_COLUMNS)) edge.observe(table.tHead.rows[0].lastElementChild);
    };
    const edge = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      edge.disconnect();
      starts.push(column + starts.length * wide);
      for (const work of [heads, ...[...loaded].map((body) => () => load(body))]) work();
    }, { root: room, rootMargin: "0px 400px" });
    table.setAttribute("aria-rowcount", rows + 1);
    number([...first.rows], row);
    table.setAttribute("aria-colcount", columns + 1);
    room.dataset.rows = rows;
    for (let at = rows - 1 - (rows - 1) % size; at >= 0; at -= size) {
      const body = at === row ? first : table.createTBody();
      body.dataset.row = at;
      if (body === first) loaded.add(body);
      else gap(body, Math.min(size, rows - at) * tall);
      table.tHead.after(body);
    }
    if (row) room.scrollTop = first.offsetTop - table.tHead.offsetHeight;
    for (const body of table.tBodies) seen.observe(body);
    if (column + wide < Math.min(columns, MOST_COLUMNS)) edge.observe(table.tHead.rows[0].lastElementChild);
    nav.hidden = !column && columns <= MOST_COLUMNS;
    room.addEventListener("renew", () => {
      parts.clear();
      for (const work of [heads, ...[...loaded].map((body) => () => load(body))]) work();
    });
  };
  addEventListener("load", () => scrolled(document));

  // A page that is not whole yet asks again, and takes what has come, unless somebody is at work in it.
  const later = async () => {
    const main = document.querySelector("main[data-again]");
    if (!main) return;
    const text = await fetch(location.href).then((answer) => answer.text()).catch(() => "");  // the server may be away
    const page = new DOMParser().parseFromString(text, "text/html");
    const next = page.querySelector("main"), room = main.querySelector(".heat[data-rows]");
    if (next && !(document.activeElement && main.contains(document.activeElement))) {
      const [left, top] = [room?.scrollLeft, room?.scrollTop], place = next.querySelector(".heat");
      if (room && place) place.replaceWith(room);
      main.replaceWith(next);
      if (room) {
        room.scrollTo(left, top);
        room.dispatchEvent(new Event("renew"));
      }
      scrolled(next);
    }
    setTimeout(later, 1000 * main.dataset.again);
  };
  const first = document.querySelector("main[data-again]");
  if (first) setTimeout(later, 1000 * first.dataset.again);
})();
