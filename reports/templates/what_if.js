// The what-if section: sliders over the model's equation (model.js). It makes no sentence of its own: those of Python
// come with placeholders. What is set stands in the page's address as #what-if=WORKLOAD&vcpus=4&...
(() => {
  "use strict";
  const source = document.getElementById("what-if-data");
  if (!source) return;
  const page = JSON.parse(source.textContent);
  const section = document.getElementById("what-if-section"), one = selector => section.querySelector(selector);
  const parts = one(".what-if-parts"), list = one("#what-if-workload"), box = one(".controls");
  const GIB = 2 ** 30, MIB = 2 ** 20, LEAST = 0.005, MOST_UNFIT = 8, LONGEST = 40;
  const { WHAT_IF, isPlain, workload: modelOf } = Model(page.constants), { filled, drawn, made: make, number } = Page;
  let asked = null, model = null, stops = {};

  const set = (selector, attributes) => {
    for (const [key, value] of Object.entries(attributes)) one(selector).setAttribute(key, value);
  };

  // format_usd of records/units.py.
  const usd = amount => `$${(amount >= 1 && amount < 1000) || number(amount) === amount.toFixed(1)
    ? amount.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 }) : number(amount)}`;

  const valueOf = control => control.stops[stops[control.name]];
  const control = name => asked.controls.find(each => each.name === name);
  const supposed = () => {
    const disk = control("disk");
    return disk !== undefined && !disk.measured.includes(stops.disk);
  };

  // What is set, as the configuration and the what-if of a prediction.
  const question = () => {
    const at = { ...asked.start }, whatIf = { ...WHAT_IF };
    for (const each of asked.controls) {
      const value = valueOf(each);
      if (each.sets in at) at[each.sets] = value;
      else if (each.sets === "decode_speedup") whatIf.decode_factor = 1 / value;
      else if (each.sets in whatIf) whatIf[each.sets] = value;
    }
    if (supposed()) {
      const rate = name => control(name) ? valueOf(control(name)) : null;
      whatIf.disk_rates = page.tiers[at.disk] ?? [rate("disk_iops"), rate("disk_mbps"), null, null];
    }
    return [at, whatIf];
  };

  const isAt = (place, at) => page.place.every((name, index) => place[index] === at[name]);

  // What an hour costs: by the table of its own machines, else of the cheapest instance type that holds it.
  const cost = (at, whatIf) => {
    if (whatIf.gpu_speedup !== 1) return { why: "other_accelerator" };
    const own = isPlain(whatIf) && asked.own_prices.find(([place]) => isAt(place, at));
    if (own) return { hour: own[1], machine: own[2] };
    const [, key, needed] = asked.kinds.find(([gpu]) => gpu === at.gpu) ?? asked.kinds[0];
    if (key === null || (at.vcpus === null && !needed)) return { why: "kind_unknown" };
    const memory = (asked.memory_varied ? at.memory_bytes : model.anonymousBytes(at)) ?? 0;
    const count = needed ? Math.max(1, at.gpu_count ?? 0) : 0, { priced, unpriced } = page.machines[key];
    const holds = ([vcpus, mebibytes, gpus]) => vcpus >= (at.vcpus ?? 0) && mebibytes * MIB >= memory && gpus >= count;
    const found = priced.find(holds);
    if (found) return { hour: found[3], machine: filled(asked.sentences.cheapest, { machine: found[4] }) };
    return { why: unpriced.some(holds) ? "price_unknown" : "not_sold" };
  };

  const showRate = (found, whatIf) => {
    const said = asked.sentences, { value, low, high } = found.throughput;
    const rate = each => filled(said.rate, { number: number(each) });
    one(".rate output").textContent = found.out_of_memory ? said.out_of_memory : rate(value);
    one("p.interval").textContent = found.out_of_memory ? "" : filled(said.interval, { low: rate(low), high: rate(high) });
    // What no run had is extrapolated, however near to the runs the rest is.
    const badge = found.extrapolated || !isPlain(whatIf) ? "extrapolated" : found.measured ? "fitted" : "predicted";
    for (const each of section.querySelectorAll("[data-badge]")) {
      each.hidden = found.out_of_memory || each.dataset.badge !== badge;
    }
    one(".ran").textContent = found.measured ? filled(said.ran, { rate: rate(found.measured) }) : "";
    // Of one length for a workload, so that what was set before and after can be compared.
    asked.whole = Math.max(asked.whole ?? 0, 1.04 * high, 1.3 * (asked.rate ?? 0)) || 1;
    const whole = asked.whole, percent = each => `${100 * each / whole}%`;
    set(".against .bar", { width: percent(value) });
    set(".against .interval", { x1: percent(low), x2: percent(high) });
    one(".against .answer").toggleAttribute("hidden", !asked.rate);
    set(".against .answer", { x1: percent(asked.rate ?? 0), x2: percent(asked.rate ?? 0) });
    one(".of-answer").textContent
      = asked.rate ? filled(said.of_answer, { share: number(Math.round(100 * value / asked.rate)) }) : "";
  };
  const hatched = place => ["part", "hatched"].map(kind => drawn("rect", { ...place, class: kind }));
  const showBound = found => {
    const said = asked.sentences, shares = Object.keys(page.hues).filter(name => found.shares[name] >= LEAST);
    one(".bound").textContent = asked.bottlenecks[found.bottleneck][0];
    one(".stack").toggleAttribute("hidden", !shares.length);
    let left = 0;
    one(".stack").replaceChildren(...shares.map(name => {
      const place = { x: `${100 * left}%`, width: `${100 * found.shares[name]}%`, height: "14" };
      left += found.shares[name];
      return drawn("g", { class: `hue-${page.hues[name]}` }, ...hatched(place));
    }));
    one(".legend").replaceChildren(...shares.map(name => {
      const key = drawn("svg", { viewBox: "0 0 26 14", "aria-hidden": "true" },
        ...hatched({ x: 4, y: 1, width: 18, height: 12 }));
      const share = number(Math.round(100 * found.shares[name])), resource = asked.bottlenecks[name][1];
      return make("li", { class: `hue-${page.hues[name]}` }, key, filled(said.resource, { resource, share }));
    }));
  };
  const showCost = (found, at, whatIf) => {
    const said = asked.sentences, { hour, machine, why } = cost(at, whatIf), rate = found.throughput.value;
    let price = hour === undefined ? said[why] : filled(said.hour, { price: usd(hour) });
    if (hour !== undefined && rate > 0 && said.million && !asked.doubt) {
      price += ` · ${filled(said.million, { price: usd(hour / 3600 / rate * 1e6) })}`;
    }
    one(".price").textContent = found.out_of_memory ? "–" : price;
    one(".machine").textContent = found.out_of_memory ? "" : machine ?? "";
  };

  // The same for a terminal, quoted as a shell needs it.
  const quoted = word => /^[\w./:=+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  const bytes = value => value % GIB === 0 ? `${value / GIB}GiB` : value % MIB === 0 ? `${value / MIB}MiB` : `${value}B`;
  const flagOf = each => {
    const value = valueOf(each);
    if (value === 1 && ["gpu_speedup", "decode_speedup", "data_factor"].includes(each.name)) return [];
    if (each.name === "disk" && supposed() && page.tiers[value] === undefined) return [];
    if (each.name === "decode_speedup") return ["--decode-factor", 1 / value];
    if (each.name === "memory_gib") return ["--memory", bytes(value)];
    return [`--${each.name.replace("_", "-")}`, keyOf(each, stops[each.name])];
  };
  const shownNow = each => !["disk_mbps", "disk_iops"].includes(each.name)
    || (supposed() && page.tiers[valueOf(control("disk"))] === undefined);
  const typed = () => [
    "sizer", "predict", "DIR", "--workload", asked.name,
    ...asked.controls.filter(shownNow).flatMap(flagOf),
  ].map(word => quoted(String(word))).join(" ");

  const show = () => {
    for (const each of asked.controls) {
      const shown = box.querySelector(`[data-control="${each.name}"]`), input = shown.querySelector("input, select");
      shown.hidden = !shownNow(each);
      input.value = stops[each.name];
      if (input.type !== "range") continue;
      input.setAttribute("aria-valuetext", each.labels[stops[each.name]]);
      shown.querySelector("output").textContent = each.labels[stops[each.name]];
    }
    const [at, whatIf] = question(), begins = isPlain(whatIf) && isAt(page.place.map(name => asked.start[name]), at);
    const found = { ...model.predict(at, whatIf), ...(begins && asked.begin) }, isRefused = found.refused !== undefined;
    one(".answered").hidden = isRefused;
    one(".callout.refused").hidden = !isRefused;
    one(".why").textContent = asked.refusals[found.refused] ?? "";
    one(".typed").textContent = typed();
    if (!isRefused) {
      showRate(found, whatIf);
      showBound(found);
      showCost(found, at, whatIf);
    }
    one(".glance strong").textContent = one(isRefused ? ".refused strong" : ".rate output").textContent;
    one(".glance span").textContent = isRefused ? "" : one(".bound").textContent;
  };

  // --- controls ------------------------------------------------------------------------------------------------------
  const slider = (each, id) => {
    const last = each.stops.length - 1, at = index => `${100 * index / Math.max(1, last)}%`;
    const ticks = each.measured.map(index => drawn("line", { x1: at(index), x2: at(index), y1: 0, y2: 6 }));
    return [make("input", { id, type: "range", min: 0, max: last, step: 1 }),
      drawn("svg", { class: "ticks", "aria-hidden": "true" }, ...ticks)];
  };
  const options = (each, id) => {
    const found = make("select", { id }), groups = new Map();
    each.labels.forEach((said, index) => {
      const heading = each.groups[index];
      if (heading && !groups.has(heading)) groups.set(heading, found.appendChild(make("optgroup", { label: heading })));
      (groups.get(heading) ?? found).append(make("option", { value: index }, said));
    });
    return [found];
  };
  const choose = workload => {
    asked = workload;
    model = asked.made ??= modelOf(asked.model);
    stops = Object.fromEntries(asked.controls.map(each => [each.name, each.start]));
    list.value = asked.name;
    const back = one(".back");
    back.dataset.answer ??= back.textContent;
    one(".doubt").textContent = asked.doubt;
    one(".doubt").hidden = !asked.doubt;
    back.textContent = asked.is_answer ? back.dataset.answer : back.dataset.start;
    box.replaceChildren(...asked.controls.map(each => {
      const id = `what-if-${each.name}`, listed = ["disk", "gpu"].includes(each.name);
      const label = make("label", { for: id }, page.labels[each.name]);
      const said = listed ? [] : [make("output", { for: id })];
      const row = make("div", { class: "control", "data-control": each.name },
        label, ...said, ...(listed ? options : slider)(each, id));
      const input = row.querySelector("input, select");
      input.addEventListener("input", () => { stops[each.name] = Number(input.value); show(); });
      input.addEventListener("change", write);
      return row;
    }));
  };

  // --- the page's address ----------------------------------------------------------------------------------------
  const keyOf = (each, index) => typeof each.stops[index] === "number"
    ? String(each.stops[index] / each.scale) : each.stops[index] ?? page.constants.HOST_DISK;
  const write = () => {
    warn([]);
    const said = new URLSearchParams([["what-if", asked.name]]);
    for (const each of asked.controls.filter(shownNow)) said.set(each.name, keyOf(each, stops[each.name]));
    history.replaceState(null, "", `#${said}`);
  };
  const read = () => {
    const said = new URLSearchParams(location.hash.slice(1)), name = said.get("what-if");
    if (name === null && asked !== null) return;
    const found = page.workloads.find(workload => workload.name === name), unfit = [];
    choose(found ?? asked ?? page.workloads[0]);
    for (const [key, text] of name === null ? [] : said) {
      const each = control(key), stop = each ? each.stops.findIndex((_, index) => keyOf(each, index) === text) : -1;
      if (stop >= 0) stops[key] = stop;
      else if (key !== "what-if" || !found) unfit.push(`${key}=${text}`);
    }
    if (name !== null) section.scrollIntoView();
    show();
    warn(unfit);
  };
  // Text of the address is anybody's, so a part of it is enough.
  const warn = unfit => {
    const some = unfit.slice(0, MOST_UNFIT).map(each => each.length > LONGEST ? `${each.slice(0, LONGEST)}…` : each);
    one(".unfit").hidden = !unfit.length;
    one(".unfit").textContent = unfit.length ? filled(page.unfit, { parts: some.join(", ") }) : "";
  };

  list.addEventListener("change", () => { choose(page.workloads[list.selectedIndex]); show(); write(); });
  one(".back").addEventListener("click", () => { choose(asked); show(); write(); });
  window.addEventListener("hashchange", read);
  one(".without-script").hidden = true;
  parts.hidden = false;
  read();
})();
