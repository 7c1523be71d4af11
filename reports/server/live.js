// The page as `sizer serve` shows it: every other second it asks whether there is a newer one, and takes it where that
// disturbs no reader. The place on the page, what is folded open and what is set in its forms are there again after.
(() => {
  "use strict";
  const own = document.currentScript.dataset, KEPT = "sizer-live", EVERY = 2000, QUIET = 5000, PATIENCE = 10000;
  const note = document.createElement("p");
  note.className = "live-note";
  note.setAttribute("role", "status");
  document.body.append(note);
  let touched = -Infinity, failed = 0, shown = "", waiting;

  // Elements by a name that a newer page has, too: figures in it may be others, and of one name they are counted.
  const named = (selector, nameOf) => {
    const counts = {};
    return new Map([...document.querySelectorAll(selector)].map(element => {
      const name = `${element.localName} ${nameOf(element)}`.replace(/[\d.,]+/g, "#").trim();
      counts[name] = (counts[name] ?? 0) + 1;
      return [`${name} ${counts[name]}`, element];
    }));
  };
  const heads = () => named("h1, h2, h3, h4, summary", each => each.textContent);
  // What a reader sets. A form whose state is in the address says that it has none to be kept.
  const chosen = () => named("details, form:not([autocomplete=off]) [name]",
    each => each.name || each.querySelector("summary")?.textContent);
  const KEEPS = { details: "open", checkbox: "checked", radio: "checked" };
  const keepsOf = element => KEEPS[element.localName] ?? KEEPS[element.type] ?? "value";

  const keep = () => {
    const above = [...heads()].filter(([, head]) => head.getClientRects().length && head.getBoundingClientRect().top < 2);
    const [name, head] = above.at(-1) ?? [];
    sessionStorage.setItem(KEPT, JSON.stringify({
      chosen: [...chosen()].map(([key, element]) => [key, element[keepsOf(element)]]),
      head: name, offset: head?.getBoundingClientRect().top, top: scrollY, left: scrollX,
    }));
  };

  const restore = () => {
    const kept = JSON.parse(sessionStorage.getItem(KEPT));
    if (!kept || performance.getEntriesByType("navigation")[0].type === "navigate") return;
    const before = new Map(kept.chosen);
    for (const [key, element] of chosen()) {
      const name = keepsOf(element);
      if (!before.has(key) || element[name] === before.get(key)) continue;
      element[name] = before.get(key);
      if (name === "open") continue;
      // A choice that is gone would leave a list with none.
      if (element.selectedIndex < 0) element.selectedIndex = 0;
      for (const event of ["input", "change"]) element.dispatchEvent(new Event(event, { bubbles: true }));
    }
    const place = () => {
      const head = kept.head && heads().get(kept.head);
      if (head) scrollTo(kept.left, scrollY + head.getBoundingClientRect().top - kept.offset);
      else scrollTo(kept.left, kept.top);
    };
    place();
    addEventListener("load", place, { once: true });
  };

  // Whoever has just moved a slider, goes through the page by keys or has marked some text is not interrupted.
  const isBusy = () => performance.now() - touched < QUIET || !document.getSelection().isCollapsed
    || document.querySelector("main :focus-visible, main input:focus, main select:focus, .live-note :focus") !== null;
  for (const kind of ["input", "keydown", "pointerdown"]) {
    addEventListener(kind, () => { touched = performance.now(); }, { passive: true, capture: true });
  }

  // Said once: a screen reader reads what comes to stand here.
  const say = (text, ...more) => {
    if (text === shown) return;
    shown = text;
    note.replaceChildren(...text ? [text, ...more.flatMap(each => [" ", each])] : []);
  };

  const offer = () => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = own.take;
    button.addEventListener("click", () => location.reload());
    return button;
  };

  const ask = async () => {
    const address = location.pathname + location.search, signal = AbortSignal.timeout(PATIENCE);
    try {
      const answer = await fetch(address, { method: "HEAD", cache: "no-store", signal });
      if (!answer.ok) throw new Error(answer.status);
      failed = 0;
      if (answer.headers.get("ETag") === own.tag) say("");
      else if (isBusy()) say(own.changed, offer());
      else location.reload();
    } catch {
      failed += 1;
      if (failed > 1) say(own.gone);
    }
  };

  const go = async () => {
    clearTimeout(waiting);
    if (document.hidden) return;
    await ask();
    clearTimeout(waiting);
    waiting = setTimeout(go, EVERY);
  };
  document.addEventListener("visibilitychange", go);
  // The browser itself would go back to a number of pixels, which in a longer page is another place.
  history.scrollRestoration = "manual";
  restore();
  addEventListener("pagehide", keep);
  waiting = setTimeout(go, EVERY);
})();
