// What pointing at a chart shows, at once and with a line across it; arrow keys do the same. Without this script the
// browser shows the same words after a moment, as titles.
(() => {
  // Always there, and empty where nothing is pointed at, so that a screen reader tells what comes to stand in it.
  const tip = Page.made("div", { class: "tip", role: "status" });
  document.body.append(tip);
  const titles = new Map(), marks = new Map();
  let crosshair = null;

  const hide = () => {
    tip.textContent = "";
    if (crosshair) crosshair.remove();
    crosshair = null;
  };

  const show = (mark, x, y) => {
    hide();
    tip.textContent = titles.get(mark);
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    const above = y - tip.offsetHeight - 14;
    tip.style.left = `${scrollX + Math.max(4, Math.min(x + 14, room))}px`;
    tip.style.top = `${scrollY + (above < 4 ? y + 18 : above)}px`;
    if (!mark.dataset.at) return;
    const at = mark.dataset.at, top = +mark.getAttribute("y"), height = +mark.getAttribute("height");
    crosshair = Page.drawn("line", { class: "crosshair", x1: at, x2: at, y1: top, y2: top + height });
    mark.ownerSVGElement.append(crosshair);
  };

  // The marks of a chart with words, whose titles are taken over; a page may have hundreds of charts, so each one only
  // when it is first used. Where there are places of an axis, keys go along these.
  const marksOf = chart => {
    if (!marks.has(chart)) {
      const titled = [...chart.querySelectorAll("title")].map(title => {
        const mark = title.parentNode;
        titles.set(mark, title.textContent);
        title.remove();
        return mark;
      });
      const stops = titled.filter(mark => mark.dataset.at);
      marks.set(chart, { all: stops.length ? stops : titled, now: null });
    }
    return marks.get(chart);
  };

  const pointed = event => {
    const chart = event.currentTarget;
    marksOf(chart);
    let mark = event.target;
    while (mark !== chart && !titles.has(mark)) mark = mark.parentNode;
    if (titles.has(mark)) show(mark, event.clientX, event.clientY); else hide();
  };

  const pressed = event => {
    if (event.key === "Escape") hide();
    if (!["ArrowRight", "ArrowLeft", "Home", "End"].includes(event.key)) return;
    event.preventDefault();
    const group = marksOf(event.currentTarget), last = group.all.length - 1;
    const now = group.now ?? (event.key === "ArrowLeft" ? last + 1 : -1);
    const next = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: last }[event.key];
    group.now = Math.max(0, Math.min(last, next));
    const mark = group.all[group.now], box = mark.getBoundingClientRect();
    show(mark, box.left + box.width / 2, box.top);
  };

  const attend = chart => {
    if (!chart.querySelector("title")) return;
    chart.setAttribute("tabindex", "0");
    for (const name of ["pointermove", "pointerdown"]) chart.addEventListener(name, pointed);
    for (const name of ["pointerleave", "blur"]) chart.addEventListener(name, hide);
    chart.addEventListener("keydown", pressed);
  };

  document.querySelectorAll("svg.chart").forEach(attend);
  // Another script has drawn one.
  document.addEventListener("chart", event => attend(event.target));
})();
