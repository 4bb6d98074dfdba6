(() => {
  "use strict";
  const prepare = (root) => {
    for (const button of root.querySelectorAll("button.copy")) {
      if (!navigator.clipboard) continue;
      button.hidden = false;
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(button.parentNode.querySelector("code").textContent);
        button.textContent = "Copied";
      });
    }
  };
  prepare(document);
  document.addEventListener("added", (event) => prepare(event.target));
})();
(() => {
  "use strict";
  // The heat table scrolls in its own room: windows of rows that come near are fetched, those far away give their place
  // to a gap of their height; windows of columns are added as their edge comes into sight.
  const MOST_WINDOWS = 5, MOST_COLUMNS = 240;
  // What comes late stands behind what a reader has before them: the server is told which order that is.
  const asSeen = (address) => {
    const seen = document.getElementById("seen")?.dataset.seen;
    if (seen) address.searchParams.set("seen", seen);
    return address;
  };
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
      asSeen(address);
      for (const [name, value] of [["row", at], ["column", left]]) address.searchParams.set(name, value);
      if (!parts.has(key)) parts.set(key, fetch(address).then((answer) => answer.text())
        .then((text) => ofThisState(read(text))?.querySelector(".heat table") ?? null));
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
      table.caption.replaceWith(document.importNode(tables[0].caption, true)); // it says what shades are, once they are there
      edge.disconnect();
      const next = column + table.tHead.rows[0].cells.length - 1;
      if (next < Math.min(columns, MOST_COLUMNS)) edge.observe(table.tHead.rows[0].lastElementChild);
    };
    const edge = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      edge.disconnect();
      const next = column + starts.length * wide;
      if (next >= Math.min(columns, MOST_COLUMNS)) return; // heads that were asked for before the last ones came later
      starts.push(next);
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
  const put = (next) => {
    document.querySelector("main").replaceWith(next);
    next.dispatchEvent(new Event("added", { bubbles: true }));
    again();
  };
  const read = (text) => new DOMParser().parseFromString(text, "text/html");

  // Parts of a page are of one state of the store: where a part is of another, the whole page is fetched again.
  const stateOf = (page) => page.querySelector("#state time")?.dateTime;
  const ofThisState = (page) => {
    if ((stateOf(page) ?? stateOf(document)) === stateOf(document)) return page;
    if (!renewing) renewing = renew().finally(() => { renewing = null; });
    return null;
  };
  let renewing;
  const renew = async () => {
    const room = document.querySelector(".heat[data-rows]"), [left, top] = [room?.scrollLeft, room?.scrollTop];
    const isHeld = room?.contains(document.activeElement);
    await show(new URL(location.href), { top: scrollY });
    const next = document.querySelector(".heat[data-rows]");
    if (room) next?.scrollTo(left, top);
    if (isHeld) next?.focus({ preventScroll: true });
  };

  // A page that is not whole yet asks again, and takes what has come, unless somebody is at work in it.
  let timer;
  const again = () => {
    clearTimeout(timer);
    const main = document.querySelector("main[data-again]");
    if (main) timer = setTimeout(later, 1000 * main.dataset.again, main);
  };
  const later = async (main) => {
    if (nameOf(location) !== shown) return;  // another view comes
    const text = await fetch(asSeen(new URL(location.href))).then((answer) => answer.text()).catch(() => "");  // the server may be away
    const page = read(text), next = page.querySelector("main"), room = main.querySelector(".heat[data-rows]");
    if (!main.isConnected) return;
    const held = document.activeElement, isLinked = held.id && `#${held.id}` === location.hash;
    if (!next || main.contains(held) && !isLinked) return again();
    if (!ofThisState(page)) return;
    const [left, top] = [room?.scrollLeft, room?.scrollTop], place = next.querySelector(".heat");
    if (room && place) place.replaceWith(room);
    put(next);
    if (room) {
      room.scrollTo(left, top);
      room.dispatchEvent(new Event("renew"));
    }
    scrolled(next);
  };

  // Another view takes the place of what is shown, as if the browser had loaded it, which costs it more.
  const PARTS = ["header > div", "nav.places"];
  const nameOf = (address) => `${address.pathname}${address.search}`;
  let shown = nameOf(location), under;
  history.scrollRestoration = "manual";  // what a browser restores is that of the view before
  const keep = () => {
    if (nameOf(location) !== shown) return;  // on the way back: the entry is already that of the view to come
    const held = document.activeElement?.closest("main a[href], article.flip");
    history.replaceState({ top: scrollY, link: (held?.querySelector("a.open") ?? held)?.href }, "");
  };
  const scroll = (top) => scrollTo({ top, behavior: "instant" });
  const load = (address, isBack) => { if (isBack) location.reload(); else location.assign(address); };
  const show = async (address, back) => {
    under?.abort();
    const { signal } = under = new AbortController();
    document.querySelector("main").ariaBusy = "true";
    const answer = await fetch(address, { signal }).catch((error) => error);
    if (answer.redirected) address = Object.assign(new URL(answer.url), { hash: address.hash });
    const isPage = answer.headers?.get("content-type")?.startsWith("text/html") && !answer.headers.has("content-disposition");
    const page = read(isPage ? await answer.text().catch(() => "") : "");
    if (signal.aborted) return;
    if (PARTS.some((part) => !page.querySelector(part))) return load(address, back);
    if (!back) {
      keep();
      history[address.href === location.href ? "replaceState" : "pushState"](null, "", address);
    }
    shown = nameOf(location);
    document.title = page.title;
    for (const part of PARTS) document.querySelector(part).replaceWith(page.querySelector(part));
    const next = page.querySelector("main");
    put(next);
    scrolled(next);
    const target = !back && document.getElementById(decodeURIComponent(address.hash.slice(1)));
    const left = back?.link && !next.dataset.again && [...next.querySelectorAll("a[href]")].find((one) => one.href === back.link);
    const held = left || target || document.querySelector("h1");
    if (held.tabIndex < 0) held.tabIndex = -1;  // from here a keyboard goes on, and a screen reader reads
    held.focus({ preventScroll: true });
    if (target) target.scrollIntoView({ behavior: "instant" });
    else scroll(back?.top ?? 0);
  };
  const isView = (address) => address.origin === location.origin && !address.pathname.startsWith("/static/")
    && !address.searchParams.has("format") && !address.searchParams.has("export");
  const isElsewhere = (event) => event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;  // a tab, a file
  let pressed;  // what a click sends, its form does not say how
  document.addEventListener("click", (event) => { pressed = event; }, true);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute("download") || event.defaultPrevented) return;
    if (event.button || isElsewhere(event)) return;
    const address = new URL(link.href);
    if (!isView(address)) return;
    if (address.hash && nameOf(address) === shown) return keep();
    event.preventDefault();
    show(address);
  });
  document.addEventListener("submit", (event) => {
    const address = new URL(event.target.action);
    if (event.defaultPrevented || event.target.getAttribute("method") !== "get" || !isView(address)) return;
    if (pressed && isElsewhere(pressed) && event.submitter?.contains(pressed.target)) return;
    address.search = new URLSearchParams(new FormData(event.target, event.submitter));
    event.preventDefault();
    show(address);
  });
  addEventListener("popstate", (event) => {
    if (nameOf(location) !== shown) show(new URL(location.href), event.state ?? {});
    else if (event.state) scroll(event.state.top);
  });
  let resting;
  addEventListener("scroll", () => {  // *forward* leads here too, and nothing is told before *back*
    clearTimeout(resting);
    resting = setTimeout(keep, 100);
  });
  addEventListener("pagehide", keep);
  addEventListener("pageshow", ({ persisted }) => {
    if (history.state) scroll(history.state.top);
    if (persisted) return;
    scrolled(document);
    again();
  });
})();
