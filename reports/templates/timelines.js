// The timeline of a run, drawn when its line in the list of all runs is opened, from the block of data `timelines`, whose
// curves lie deflated in it until then.
(() => {
  const island = document.getElementById("timelines");
  if (!island) return;
  const { words, packed, left } = JSON.parse(island.textContent);
  const leftOut = new Set(left), { filled, drawn: make, number: written } = Page;
  const LEFT = 56, RIGHT = 404, TOP = 34, PANEL = 46, GAP = 30;

  const line = (x1, y1, x2, y2, kind) => make("line", { x1, y1, x2, y2, class: kind });
  const text = (x, y, kind, anchor, content) => make("text", { x, y, class: kind, "text-anchor": anchor }, content);

  const values = ([most, digits], count) =>
    Array.from({ length: count }, (_, at) => (digits ? parseInt(digits.slice(2 * at, 2 * at + 2), 36) / 1295 * most : 0));

  const roundUp = value => {
    const power = 10 ** Math.floor(Math.log10(value || 1));
    return power * [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find(factor => factor * power >= value * .9999);
  };

  // A curve of steps: each value holds for its part of the time.
  const stepped = (values, x, y) =>
    values.map((value, at) => `${at ? "L" : "M"}${x(at).toFixed(1)} ${y(value).toFixed(1)}H${x(at + 1).toFixed(1)}`).join("");

  const draw = run => {
    const series = Object.fromEntries(Object.entries(run.s).map(([name, digits]) => [name, values(digits, run.n)]));
    const x = at => LEFT + (RIGHT - LEFT) * at / run.n, time = seconds => LEFT + (RIGHT - LEFT) * seconds / run.t;
    const some = names => names.filter(name => series[name]?.some(value => value > 0));
    const panels = [
      { key: "x", names: some(["x"]) }, { key: "c", names: some(["c"]), limit: run.l, show: true },
      { key: "m", names: some(["a", "p"]), limit: run.m }, { key: "d", names: some(["r", "w"]) },
      { key: "g", names: series.g ? ["g"] : [], top: 100 }, { key: "v", names: some(["v"]) },
    ].filter(panel => panel.names.length);
    const unitOf = { x: run.u, c: "", a: run.b, p: run.b, r: "MB/s", w: "MB/s", g: "%", v: "GiB" };
    const bottom = TOP + panels.length * (PANEL + GAP) - GAP;
    const svg = make("svg", {
      viewBox: `0 0 420 ${bottom + (run.o === undefined ? 42 : 58)}`, class: "chart", role: "img", "aria-label": words.label,
    });
    if (run.f !== undefined) {
      svg.append(make("rect", { x: time(run.f), y: TOP - 4, width: Math.max(time(run.e) - time(run.f), 1),
        height: bottom - TOP + 4, class: "usual" }));
      const wide = time(run.f) - LEFT > 60;
      if (wide) svg.append(text((LEFT + time(run.f)) / 2, TOP - 22, "limit-word", "middle", words.warm));
      svg.append(text(Math.max((time(run.f) + time(run.e)) / 2, LEFT + 32), TOP - 22, "limit-word", "middle", words.measured));
    }
    panels.forEach((panel, number) => {
      const base = TOP + number * (PANEL + GAP) + PANEL;
      const highest = Math.max(...panel.names.flatMap(name => series[name]));
      const limited = panel.limit !== undefined && (panel.show || panel.limit <= 1.6 * highest);
      const top = panel.top ?? roundUp(Math.max(highest, limited ? panel.limit : 0));
      const y = value => base - PANEL * Math.min(value / top, 1);
      const title = filled(words.panels[panel.key], { unit: panel.key === "m" ? run.b : run.u });
      const bound = panel.limit === undefined || !words.limit[panel.key] ? ""
        : ` (${filled(words.limit[panel.key], { value: panel.key === "m" ? run.k : written(panel.limit) })})`;
      const heading = text(LEFT - 48, base - PANEL - 8, "label", "start", title + bound);
      if ("md".includes(panel.key)) panel.names.forEach((name, at) =>
        heading.append("  ", make("tspan", { class: `series-${at} named` }, (at ? "┄ " : "─ ") + words.series[name])));
      svg.append(
        heading,
        line(LEFT, base, RIGHT, base, "axis"), line(LEFT, base - PANEL, RIGHT, base - PANEL, "grid"),
        text(LEFT - 8, base + 4, "tick", "end", "0"), text(LEFT - 8, base - PANEL + 4, "tick", "end", written(top)),
      );
      if (limited) svg.append(line(LEFT, y(panel.limit), RIGHT, y(panel.limit), "ceiling"));
      svg.append(...panel.names.map((name, at) => {
        const trace = make("path", { d: stepped(series[name], x, y), class: at ? "trace second" : "trace" });
        return make("g", { class: `series-${at}` }, trace);
      }));
    });
    if (run.o !== undefined) {
      const at = time(run.o);
      svg.append(line(at, TOP - 6, at, bottom + 42, "limit"),
        text(Math.min(Math.max(at, LEFT + 50), RIGHT - 50), bottom + 53, "limit-word", "middle", words.epoch));
    }
    svg.append(line(LEFT, bottom, RIGHT, bottom, "axis"));
    const step = roundUp(run.t / 6);
    for (let tick = 0; tick <= run.t * 1.001; tick += step) {
      svg.append(line(time(tick), bottom, time(tick), bottom + 5, "axis"),
        text(time(tick), bottom + 19, "label", "middle", written(tick)));
    }
    svg.append(text((LEFT + RIGHT) / 2, bottom + 37, "label", "middle", words.time));
    const order = Object.keys(unitOf).filter(name => panels.some(panel => panel.names.includes(name)));
    for (let at = 0; at < run.n; at += 1) {
      const values = order.map(name => `${words.series[name]} ${written(series[name][at])} ${unitOf[name]}`.trim());
      const seconds = `${written(run.t * at / run.n)}–${written(run.t * (at + 1) / run.n)} s`;
      svg.append(make("rect", { x: x(at), y: TOP, width: x(at + 1) - x(at), height: bottom - TOP, class: "stop",
        "data-at": (x(at) + x(at + 1)) / 2 }, make("title", {}, [seconds, ...values].join("\n"))));
    }
    return svg;
  };

  let unpacking = null;

  const show = async details => {
    const place = details.querySelector("[id^='run-']"), id = place?.id.slice(4);
    if (!place) return;
    const runs = await (unpacking ??= Page.unpacked(packed).json());
    if (details.querySelector(".timeline")) return;
    const figure = Page.made("figure", { class: "timeline" });
    if (runs[id]) figure.append(draw(runs[id]));
    else if (leftOut.has(id)) figure.append(filled(words.left, { file: `runs/${id}.json` }));
    else return;
    place.after(figure);
    figure.querySelector(".chart")?.dispatchEvent(new CustomEvent("chart", { bubbles: true }));
  };

  for (const details of document.querySelectorAll(".runs > details[open]")) show(details);
  document.addEventListener("toggle", event => {
    if (event.target.open && event.target.matches(".runs > details")) show(event.target);
  }, true);
})();
