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
  const control = name => asked.controls.find(candidate => candidate.name === name);
  const supposed = () => {
    const disk = control("disk");
    return disk !== undefined && !disk.measured.includes(stops.disk);
  };

  // What is set, as the configuration and the what-if of a prediction.
  const question = () => {
    const at = { ...asked.start }, whatIf = { ...WHAT_IF };
    for (const item of asked.controls) {
      const value = valueOf(item);
      if (item.sets in at) at[item.sets] = value;
      else if (item.sets === "decode_speedup") whatIf.decode_factor = 1 / value;
      else if (item.sets in whatIf) whatIf[item.sets] = value;
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
    const offer = priced.find(holds);
    if (offer) return { hour: offer[3], machine: filled(asked.sentences.cheapest, { machine: offer[4] }) };
    return { why: unpriced.some(holds) ? "price_unknown" : "not_sold" };
  };

  const showRate = (prediction, whatIf) => {
    const words = asked.sentences, { value, low, high } = prediction.throughput;
    const rate = samples => filled(words.rate, { number: number(samples) });
    one(".rate output").textContent = prediction.out_of_memory ? words.out_of_memory : rate(value);
    const interval = filled(words.interval, { low: rate(low), high: rate(high) });
    one("p.interval").textContent = prediction.out_of_memory ? "" : interval;
    // What no run had is extrapolated, however near to the runs the rest is.
    const isBeyond = prediction.extrapolated || !isPlain(whatIf);
    const badge = isBeyond ? "extrapolated" : prediction.measured ? "fitted" : "predicted";
    for (const mark of section.querySelectorAll("[data-badge]")) {
      mark.hidden = prediction.out_of_memory || mark.dataset.badge !== badge;
    }
    one(".ran").textContent = prediction.measured ? filled(words.ran, { rate: rate(prediction.measured) }) : "";
    // Of one length for a workload, so that what was set before and after can be compared.
    asked.whole = Math.max(asked.whole ?? 0, 1.04 * high, 1.3 * (asked.rate ?? 0)) || 1;
    const whole = asked.whole, percent = rate => `${100 * rate / whole}%`;
    set(".against .bar", { width: percent(value) });
    set(".against .interval", { x1: percent(low), x2: percent(high) });
    one(".against .answer").toggleAttribute("hidden", !asked.rate);
    set(".against .answer", { x1: percent(asked.rate ?? 0), x2: percent(asked.rate ?? 0) });
    one(".of-answer").textContent
      = asked.rate ? filled(words.of_answer, { share: number(Math.round(100 * value / asked.rate)) }) : "";
  };
  const hatched = place => ["part", "hatched"].map(kind => drawn("rect", { ...place, class: kind }));
  const showBound = prediction => {
    const words = asked.sentences, shares = Object.keys(page.hues).filter(name => prediction.shares[name] >= LEAST);
    one(".bound").textContent = asked.bottlenecks[prediction.bottleneck][0];
    one(".stack").toggleAttribute("hidden", !shares.length);
    let left = 0;
    one(".stack").replaceChildren(...shares.map(name => {
      const place = { x: `${100 * left}%`, width: `${100 * prediction.shares[name]}%`, height: "14" };
      left += prediction.shares[name];
      return drawn("g", { class: `hue-${page.hues[name]}` }, ...hatched(place));
    }));
    one(".legend").replaceChildren(...shares.map(name => {
      const key = drawn("svg", { viewBox: "0 0 26 14", "aria-hidden": "true" },
        ...hatched({ x: 4, y: 1, width: 18, height: 12 }));
      const share = number(Math.round(100 * prediction.shares[name])), resource = asked.bottlenecks[name][1];
      return make("li", { class: `hue-${page.hues[name]}` }, key, filled(words.resource, { resource, share }));
    }));
  };
  const showCost = (prediction, at, whatIf) => {
    const words = asked.sentences, { hour, machine, why } = cost(at, whatIf), rate = prediction.throughput.value;
    let price = hour === undefined ? words[why] : filled(words.hour, { price: usd(hour) });
    if (hour !== undefined && rate > 0 && words.million && !asked.doubt) {
      price += ` · ${filled(words.million, { price: usd(hour / 3600 / rate * 1e6) })}`;
    }
    one(".price").textContent = prediction.out_of_memory ? "–" : price;
    one(".machine").textContent = prediction.out_of_memory ? "" : machine ?? "";
  };

  // The same for a terminal, quoted as a shell needs it.
  const quoted = word => /^[\w./:=+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
  const bytes = value => value % GIB === 0 ? `${value / GIB}GiB` : value % MIB === 0 ? `${value / MIB}MiB` : `${value}B`;
  const flagOf = setting => {
    const value = valueOf(setting);
    if (value === 1 && ["gpu_speedup", "decode_speedup", "data_factor"].includes(setting.name)) return [];
    if (setting.name === "disk" && supposed() && page.tiers[value] === undefined) return [];
    if (setting.name === "decode_speedup") return ["--decode-factor", 1 / value];
    if (setting.name === "memory_gib") return ["--memory", bytes(value)];
    return [`--${setting.name.replace("_", "-")}`, keyOf(setting, stops[setting.name])];
  };
  const shownNow = setting => !["disk_mbps", "disk_iops"].includes(setting.name)
    || (supposed() && page.tiers[valueOf(control("disk"))] === undefined);
  const typed = () => [
    "sizer", "predict", "DIR", "--workload", asked.name,
    ...asked.controls.filter(shownNow).flatMap(flagOf),
  ].map(word => quoted(String(word))).join(" ");

  const show = () => {
    for (const setting of asked.controls) {
      const shown = box.querySelector(`[data-control="${setting.name}"]`), input = shown.querySelector("input, select");
      shown.hidden = !shownNow(setting);
      input.value = stops[setting.name];
      if (input.type !== "range") continue;
      input.setAttribute("aria-valuetext", setting.labels[stops[setting.name]]);
      shown.querySelector("output").textContent = setting.labels[stops[setting.name]];
    }
    const [at, whatIf] = question(), begins = isPlain(whatIf) && isAt(page.place.map(name => asked.start[name]), at);
    const prediction = { ...model.predict(at, whatIf), ...(begins && asked.begin) };
    const isRefused = prediction.refused !== undefined;
    one(".answered").hidden = isRefused;
    one(".callout.refused").hidden = !isRefused;
    one(".why").textContent = asked.refusals[prediction.refused] ?? "";
    one(".typed").textContent = typed();
    if (!isRefused) {
      showRate(prediction, whatIf);
      showBound(prediction);
      showCost(prediction, at, whatIf);
    }
    one(".glance strong").textContent = one(isRefused ? ".refused strong" : ".rate output").textContent;
    one(".glance span").textContent = isRefused ? "" : one(".bound").textContent;
  };

  // --- controls ------------------------------------------------------------------------------------------------------
  const slider = (setting, id) => {
    const last = setting.stops.length - 1, at = index => `${100 * index / Math.max(1, last)}%`;
    const ticks = setting.measured.map(index => drawn("line", { x1: at(index), x2: at(index), y1: 0, y2: 6 }));
    return [make("input", { id, type: "range", min: 0, max: last, step: 1 }),
      drawn("svg", { class: "ticks", "aria-hidden": "true" }, ...ticks)];
  };
  const options = (setting, id) => {
    const choices = make("select", { id }), groups = new Map();
    setting.labels.forEach((label, index) => {
      const heading = setting.groups[index];
      if (heading && !groups.has(heading)) groups.set(heading, choices.appendChild(make("optgroup", { label: heading })));
      (groups.get(heading) ?? choices).append(make("option", { value: index }, label));
    });
    return [choices];
  };
  const choose = workload => {
    asked = workload;
    model = asked.made ??= modelOf(asked.model);
    stops = Object.fromEntries(asked.controls.map(setting => [setting.name, setting.start]));
    list.value = asked.name;
    const back = one(".back");
    back.dataset.answer ??= back.textContent;
    one(".doubt").textContent = asked.doubt;
    one(".doubt").hidden = !asked.doubt;
    back.textContent = asked.is_answer ? back.dataset.answer : back.dataset.start;
    box.replaceChildren(...asked.controls.map(setting => {
      const id = `what-if-${setting.name}`, listed = ["disk", "gpu"].includes(setting.name);
      const label = make("label", { for: id }, page.labels[setting.name]);
      const output = listed ? [] : [make("output", { for: id })];
      const row = make("div", { class: "control", "data-control": setting.name },
        label, ...output, ...(listed ? options : slider)(setting, id));
      const input = row.querySelector("input, select");
      input.addEventListener("input", () => { stops[setting.name] = Number(input.value); show(); });
      input.addEventListener("change", write);
      return row;
    }));
  };

  // --- the page's address ----------------------------------------------------------------------------------------
  const keyOf = (setting, index) => typeof setting.stops[index] === "number"
    ? String(setting.stops[index] / setting.scale) : setting.stops[index] ?? page.constants.HOST_DISK;
  const write = () => {
    warn([]);
    const parameters = new URLSearchParams([["what-if", asked.name]]);
    for (const setting of asked.controls.filter(shownNow)) {
      parameters.set(setting.name, keyOf(setting, stops[setting.name]));
    }
    history.replaceState(null, "", `#${parameters}`);
  };
  const read = () => {
    const parameters = new URLSearchParams(location.hash.slice(1)), name = parameters.get("what-if");
    if (name === null && asked !== null) return;
    const workload = page.workloads.find(listed => listed.name === name), unfit = [];
    choose(workload ?? asked ?? page.workloads[0]);
    for (const [key, text] of name === null ? [] : parameters) {
      const setting = control(key);
      const stop = setting ? setting.stops.findIndex((_, index) => keyOf(setting, index) === text) : -1;
      if (stop >= 0) stops[key] = stop;
      else if (key !== "what-if" || !workload) unfit.push(`${key}=${text}`);
    }
    if (name !== null) section.scrollIntoView();
    show();
    warn(unfit);
  };
  // Text of the address is anybody's, so a part of it is enough.
  const warn = unfit => {
    const some = unfit.slice(0, MOST_UNFIT).map(part => part.length > LONGEST ? `${part.slice(0, LONGEST)}…` : part);
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
