// What pointing at a chart shows, at once and with a line across it; arrow keys do the same. Without this script the
// browser shows the same words after a moment, as titles.
"use strict";
(() => {
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "status");
  tip.hidden = true;
  document.body.append(tip);
  const said = new Map(), places = new Map();
  let crosshair = null;

  const hide = () => {
    tip.hidden = true;
    if (crosshair) crosshair.remove();
    crosshair = null;
  };

  const show = (mark, x, y) => {
    hide();
    tip.textContent = said.get(mark);
    tip.hidden = false;
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    const above = y - tip.offsetHeight - 14;
    tip.style.left = `${scrollX + Math.max(4, Math.min(x + 14, room))}px`;
    tip.style.top = `${scrollY + (above < 4 ? y + 18 : above)}px`;
    if (!mark.dataset.at) return;
    crosshair = document.createElementNS(mark.namespaceURI, "line");
    crosshair.setAttribute("class", "crosshair");
    for (const end of ["1", "2"]) crosshair.setAttribute("x" + end, mark.dataset.at);
    crosshair.setAttribute("y1", mark.getAttribute("y"));
    crosshair.setAttribute("y2", +mark.getAttribute("y") + +mark.getAttribute("height"));
    mark.ownerSVGElement.append(crosshair);
  };

  const pointed = event => {
    let mark = event.target;
    while (mark && !said.has(mark) && mark !== event.currentTarget) mark = mark.parentNode;
    if (said.has(mark)) show(mark, event.clientX, event.clientY); else hide();
  };

  const step = (chart, key) => {
    const marks = places.get(chart);
    const last = marks.length - 1, now = chart.place ?? (key === "ArrowLeft" ? last + 1 : -1);
    const next = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: last }[key];
    chart.place = Math.max(0, Math.min(last, next));
    const mark = marks[chart.place], box = mark.getBoundingClientRect();
    show(mark, box.left + box.width / 2, box.top);
  };

  for (const title of document.querySelectorAll("svg.chart title")) {
    said.set(title.parentNode, title.textContent);
    title.remove();
  }
  for (const chart of document.querySelectorAll("svg.chart")) {
    const marks = [...chart.querySelectorAll("*")].filter(each => said.has(each));
    const stops = marks.filter(each => each.dataset.at);
    places.set(chart, stops.length ? stops : marks);
    if (!marks.length) continue;
    chart.setAttribute("tabindex", "0");
    chart.addEventListener("pointermove", pointed);
    chart.addEventListener("pointerdown", pointed);
    chart.addEventListener("pointerleave", hide);
    chart.addEventListener("blur", hide);
    chart.addEventListener("keydown", event => {
      if (event.key === "Escape") hide();
      if (!["ArrowRight", "ArrowLeft", "Home", "End"].includes(event.key)) return;
      event.preventDefault();
      step(chart, event.key);
    });
  }
})();
