// The model of sizer/model for the sliders of the page: what `sizer predict` says, from fewer draws. Each function has
// the name of its counterpart in Python; sizer/model/plain_data.py writes the constants K, and `data` with the names of
// Python's fields. A test compares both.
const Model = K => {
  "use strict";
  const WHAT_IF = { gpu_speedup: 1, disk_rates: null, data_bytes_factor: 1, decode_factor: 1 };
  const NEVER = -Infinity;
  const clip = (value, low, high) => Math.max(low, Math.min(high, value));
  const sum = values => values.reduce((total, value) => total + value, 0);
  const dot = (one, other) => {
    let total = 0;
    for (let index = 0; index < one.length; index += 1) total += one[index] * other[index];
    return total;
  };
  const logAddExp = (...values) => {
    const most = Math.max(...values);
    return most === NEVER ? NEVER : most + Math.log(sum(values.map(value => Math.exp(value - most))));
  };
  // The rows of a table that is kept by columns, of which one that is the same in all rows stands once.
  const rowsOf = ({ count, ...columns }) => Array.from({ length: count }, (_, row) => Object.fromEntries(
    Object.entries(columns).map(([name, values]) => [name, Array.isArray(values) ? values[row] : values])));
  const quantile = (values, part) => {
    const sorted = [...values].sort((one, other) => one - other), at = part * (sorted.length - 1), low = Math.floor(at);
    return sorted[low] + (at - low) * ((sorted[low + 1] ?? sorted[low]) - sorted[low]);
  };

  // --- equation.py, of one draw (its quantities by name) at one row --------------------------------------------------
  const on = (draw, name) => draw[`on:${name}`] > 0;
  const sharpness = draw => Math.exp(clip(draw.sharpness, ...K.LOG_SHARPNESS));
  const launched = (launch, row) => Math.log1p(Math.exp(launch) * row.batch_ratio) - Math.log1p(Math.exp(launch));

  const work = (draw, row) => {
    const apart = "step" in draw, decodes = row.decodes || (row.steps && !apart);
    const decode = decodes ? draw.work + row.decode_shift : NEVER, step = apart && row.steps ? draw.step : NEVER;
    const seconds = logAddExp(decode, step);
    return "launch" in draw && !on(draw, "accelerator launches") ? seconds + launched(draw.launch, row) : seconds;
  };
  const secondThreads = ({ vcpus, paired, cores }) => paired
    ? Math.floor(Math.ceil(vcpus) / 2) * vcpus / Math.ceil(vcpus) : Math.max(vcpus - cores, 0);
  const ofACoreSecond = (draw, row) => {
    const { vcpus } = row, quota = "quota" in draw && vcpus % 1 > 0 ? clip(draw.quota, -0.1, 0.4) : 0;
    if (!("contention" in draw)) return quota - Math.log(vcpus);
    const gain = on(draw, "second threads") ? clip(draw.yield, -0.3, 1.5) : 1, most = secondThreads(row);
    const second = on(draw, "more cores") ? Math.min(most, vcpus / 2) : most;
    const cores = Math.max(vcpus - second + gain * second, 0.02 * vcpus);
    const coherence = on(draw, "coherence") ? Math.exp(draw.coherence) : 0;
    const handover = on(draw, "handover") && vcpus > 1 ? Math.log1p(Math.exp(draw.handover)) : 0;
    const lost = (Math.exp(draw.contention) + coherence * vcpus) * Math.max(vcpus - 1, 0);
    return Math.log1p(lost) + handover - Math.log(cores) + quota;
  };
  const relieved = (draw, row) => {
    const twice = ofACoreSecond(draw, { ...row, vcpus: 2 * row.vcpus });
    return clip((ofACoreSecond(draw, row) - twice) / Math.log(2), 0, 1);
  };
  const heldAndFree = (draw, row) => {
    const held = 0.98 * row.least_memory / (1 + Math.exp(-draw.held));
    return [held, Math.max(row.memory_bytes - held, K.LEAST_FREE * held)];
  };
  const pressure = (draw, row) => {
    if (!on(draw, "pressure")) return 0;
    const [held, free] = heldAndFree(draw, row);
    return Math.log1p(Math.exp(draw.pressure) * held / free);
  };
  const missed = (draw, row) => {
    const missed = Math.log(row.missed);
    if (!("data" in draw)) return missed;
    const [, free] = heldAndFree(draw, row), data = Math.exp(draw.data);
    if (free >= data) return missed + Math.log(1e-12);
    if (on(draw, "in order")) return missed;
    const fits = clip(free / data, 1e-9, 1 - 1e-9), lru = fits + (1 - fits) * Math.log1p(-fits);
    const kept = 1 / (1 + Math.exp(-draw.keep));
    return missed + Math.log(1 - ((1 - kept) * lru + kept * fits));
  };
  const waits = (draw, row, reads) => {
    const seconds = draw[`latency:${row.disk}`];
    if (seconds === undefined || !on(draw, "latency") || !row.decodes) return NEVER;
    return seconds - Math.log(Math.ceil(row.vcpus)) + reads;
  };
  const cap = (draw, row) => on(draw, "cap") && row.computes ? -draw.cap : NEVER;
  const accelerator = (draw, row) => {
    const rate = draw[`accelerator:${row.label}`], launch = draw[`launch:${row.label}`];
    if (rate === undefined || !row.computes) return NEVER;
    const step = launch !== undefined && on(draw, "accelerator launches") ? launched(launch, row) : 0;
    const lost = "gpus" in draw ? Math.min(Math.exp(draw.gpus), 1.2) : 0;
    const real = draw[`real:${row.label}`] ?? 0, gained = row.speed_up > 0 ? row.speed_up : Math.log(row.gpus) * (1 - lost);
    return step - rate - real - gained + row.accelerator_shift;
  };
  const disk = (draw, row, reads) => {
    const fitted = row.supposed ? K.SUPPOSED * draw.spread : draw[`disk:${row.disk}`];
    const isRead = row.reads && (fitted !== undefined || !row.is_free);
    return [isRead ? reads + row.read + (fitted ?? 0) : NEVER, row.is_free ? NEVER : row.write + (fitted ?? 0)];
  };
  const solve = (draw, row) => {
    const cpu = work(draw, row) + pressure(draw, row) + ofACoreSecond(draw, row), reads = missed(draw, row);
    const computing = logAddExp(cpu, waits(draw, row, reads)), power = sharpness(draw);
    const times = [computing, cap(draw, row), accelerator(draw, row), ...disk(draw, row, reads)];
    return { draw, row, cpu, times, logRate: -logAddExp(...times.map(time => power * time)) / power };
  };
  const sharesOf = ({ draw, row, cpu, times, logRate }) => {
    const [loader, serial, ...others] = times.map(time => Math.exp(sharpness(draw) * (time + logRate)));
    const computing = loader > 0 ? loader * Math.exp(cpu - times[0]) : 0;
    const slowed = Math.exp(-pressure(draw, row)), shorter = relieved(draw, row), busy = computing * slowed;
    return [busy * shorter, serial + busy * (1 - shorter), ...others, loader - computing, computing - busy];
  };

  // --- misfit.py -----------------------------------------------------------------------------------------------------
  const covariance = (one, other) => {
    const squares = sum(one.map((value, index) => {
      if (index < K.LENGTHS.length) return (value - other[index]) ** 2;
      return value === other[index] ? 0 : K.APART;
    }));
    return (1 - K.OWN) * Math.exp(-squares / 2) + (squares < 1e-12 ? K.OWN : 0);
  };
  const forward = (lower, values) => {
    const solution = [];
    for (const [index, row] of lower.entries()) solution.push((values[index] - dot(solution, row)) / row[index]);
    return solution;
  };
  const cholesky = matrix => {
    const lower = [];
    for (const [index, row] of matrix.entries()) {
      const reached = forward(lower, row);
      lower.push([...reached, Math.sqrt(row[index] - dot(reached, reached))]);
    }
    return lower;
  };

  // --- attribution.py ------------------------------------------------------------------------------------------------
  const sharesByBottleneck = ([cpu, serial, accelerator, read, write, latency, memory], isIops) => {
    const reading = isIops ? "disk_iops" : "disk_bandwidth";
    const named = Object.entries({ cpu, serial, [reading]: read + latency, disk_write: write, accelerator, memory });
    const total = sum(named.map(([, share]) => share));
    return Object.fromEntries(named.filter(([, share]) => share > 1e-9).map(([name, share]) => [name, share / total]));
  };
  const alike = (...names) => [K.CPU_LIKE, K.DISK_LIKE].some(kind => names.every(name => kind.includes(name)));
  const bottleneckOf = (shares, evidence) => {
    const [first, second] = Object.keys(shares).sort((one, other) => shares[other] - shares[one]);
    const isClose = name => shares[first] - (shares[name] ?? 0) <= K.CLOSE;
    if (second && isClose(second) && !alike(first, second)) return "ambiguous";
    if (evidence === null) return first;
    if (K.CPU_LIKE.includes(evidence) && alike(evidence, first) && isClose(evidence)) return evidence;
    return evidence === first || alike(evidence, first) ? first : "ambiguous";
  };

  // --- of one workload -----------------------------------------------------------------------------------------------
  const isPlain = whatIf => Object.keys(WHAT_IF).every(name => whatIf[name] === WHAT_IF[name]);
  const workload = data => {
    const { facts, measured } = data, sizes = measured.memory_bytes;

    // coordinates.py, feeds.py and what was measured there
    const vcpusOf = at => at.vcpus ?? 1, memoryOf = at => at.memory_bytes ?? K.GIB;
    const diskOf = at => at.disk ?? K.HOST_DISK, labelAt = at => at.gpu || facts.accelerator || K.CPU_LABEL;
    const batchOf = at => Math.max(1, at.batch_size), gpusOf = at => Math.max(1, at.gpu_count);
    const noMore = (one, other) => one === null || other === null || one <= other;
    const fillsAccelerators = (at, killed) =>
      at.gpu === killed.gpu && batchOf(at) >= batchOf(killed) && gpusOf(at) <= gpusOf(killed);
    const needsNoLess = (at, killed) => noMore(killed.vcpus, at.vcpus) && noMore(at.memory_bytes, killed.memory_bytes);
    const withUsualAccelerator = at => {
      const usual = measured.gpus.find(([gpu]) => gpu === at.gpu) ?? measured.gpus[0];
      return usual ? { ...at, gpu: usual[0], gpu_count: at.gpu_count || usual[1] } : at;
    };
    const keyOf = at => JSON.stringify(
      [at.vcpus, sizes.length > 1 ? at.memory_bytes : null, diskOf(at), at.batch_size, at.gpu, at.gpu_count]);
    const rates = new Map(rowsOf(measured.rates).map(rate => [keyOf(rate), rate]));

    // memory.py; of a trial: vCPUs, batch size and bytes
    const smaller = (trials, at) => trials.filter(row => noMore(row[0], at.vcpus) && noMore(row[1], at.batch_size));
    const larger = (trials, at) => trials.filter(row => noMore(at.vcpus, row[0]) && noMore(at.batch_size, row[1]));
    const bytesOf = trials => trials.map(([, , bytes]) => bytes);
    const anonymousBytes = at => {
      const { peaks } = measured, near = smaller(peaks, at);
      if (!peaks.length) return 0;
      return near.length ? Math.max(...bytesOf(near)) : Math.min(...bytesOf(peaks));
    };
    const doesNotFit = at => {
      if (measured.did_not_fit.some(killed => fillsAccelerators(at, killed) && needsNoLess(at, killed))) return true;
      if (measured.overfilled.some(killed => fillsAccelerators(at, killed))) return true;
      const { killed, held } = measured, tooSmall = Math.max(...bytesOf(smaller(killed, at))), near = larger(held, at);
      const enough = Math.min(...bytesOf(near.length ? near : held).filter(bytes => bytes > tooSmall));
      return memoryOf(at) < enough && (memoryOf(at) <= tooSmall || memoryOf(at) < anonymousBytes(at));
    };
    const hitShare = (at, factor) => {
      const cached = Math.max(0, memoryOf(at) - anonymousBytes(at)) / (facts.data_bytes * factor), unseen = 1 - cached;
      if (!facts.may_hit) return 0;
      if (cached >= 1) return 1;
      if (facts.sequential || cached <= 0) return 0;
      return (1 - facts.hit_blend) * (cached + unseen * Math.log(unseen)) + facts.hit_blend * cached;
    };

    // stages.py
    const secondsOf = (demand, rate) => demand && rate ? demand / rate : 0;
    const buildRow = (at, whatIf) => {
      const supposed = whatIf.disk_rates !== null, label = labelAt(at), gpus = gpusOf(at);
      const { is_free, rates } = supposed ? { is_free: false, rates: whatIf.disk_rates } : measured.disks[diskOf(at)];
      const [iops, bytes, writeIops, writeBytes] = rates;
      const byBytes = secondsOf(facts.read_bytes, bytes), byRequests = secondsOf(facts.read_ios, iops);
      const written = Math.max(
        secondsOf(facts.written_bytes, writeBytes || bytes), secondsOf(facts.write_ios, writeIops || iops));
      return {
        ...data.row, disk: diskOf(at), label, gpus, supposed, is_free, feed: facts.feed,
        reads: facts.reads, decodes: true, computes: true, vcpus: vcpusOf(at), memory_bytes: memoryOf(at),
        batch: batchOf(at), batch_ratio: facts.reference_batch / batchOf(at),
        speed_up: facts.scaling_loss === null ? 0 : Math.log(gpus) - facts.scaling_loss * 2 * (gpus - 1) / gpus,
        missed: facts.missed * (1 - hitShare(at, whatIf.data_bytes_factor)),
        read: Math.log(is_free ? 1 / facts.highest_rate : Math.max(byBytes, byRequests)),
        read_is_iops: facts.reads && byRequests > byBytes, write: Math.log(facts.reads ? written : 0),
        steps: !facts.mixed_with_cpu || label === K.CPU_LABEL,
        decode_shift: Math.log(whatIf.decode_factor), accelerator_shift: -Math.log(whatIf.gpu_speedup),
      };
    };

    // prediction.py
    const placeOf = row => [
      ...[row.vcpus, row.batch, row.gpus, row.memory_bytes].map((value, axis) => Math.log(value) / K.LENGTHS[axis]),
      row.disk, row.label, row.feed,
    ];
    const seen = rowsOf(data.seen).map(({ batch, read, write, ...row }) => ({ ...data.row, ...row, batch,
      batch_ratio: facts.reference_batch / batch, read: read ?? NEVER, write: write ?? NEVER }));
    const places = seen.map(placeOf);
    const prior = places.map(one => places.map(other => covariance(one, other))), factors = new Map();
    const factorised = scale => cholesky(prior.map((row, here) =>
      row.map((value, there) => scale ** 2 * value + (here === there ? seen[here].deviation ** 2 : 0))));
    const learnt = data.draws.map((values, index) => {
      const draw = { spread: K.SPREAD[index] };
      data.names.forEach((name, place) => { draw[name] = values[place]; });
      const scale = Math.exp(draw.misfit);
      if (!factors.has(scale)) factors.set(scale, factorised(scale));
      const residuals = seen.map(row => row.log_rate - solve(draw, row).logRate);
      return { draw, scale, residuals: forward(factors.get(scale), residuals) };
    });
    const outside = at => sum(Object.entries(measured.range).map(([axis, [least, most]]) =>
      at[axis] ? Math.max(0, Math.log(least / at[axis]), Math.log(at[axis] / most)) : 0));
    const newRun = (solutions, at) => {
      const here = placeOf(solutions[0].row), across = places.map(place => covariance(here, place));
      const means = [], spreads = [];
      const reached = new Map([...factors].map(([scale, lower]) =>
        [scale, forward(lower, across.map(value => scale ** 2 * value))]));
      for (const [index, { scale, residuals }] of learnt.entries()) {
        const { logRate } = solutions[index], reach = reached.get(scale);
        const left = Math.max(0, scale ** 2 - dot(reach, reach)), further = K.FURTHER * outside(at);
        means.push((Number.isFinite(logRate) ? logRate : K.SLOWEST) + dot(reach, residuals));
        spreads.push(Math.sqrt(left + further ** 2 + data.noise ** 2));
      }
      const some = K.NOISE.flatMap(noise => means.map((mean, index) => mean + spreads[index] * noise[index]));
      const value = Math.exp(quantile(means, 0.5)), [low, high] = K.ENDS.map(end => Math.exp(quantile(some, end)));
      return { value, low: Math.min(value, low), high: Math.max(value, high) };
    };

    const isShown = (evidence, bottleneck, diskIsFree) => {
      const isDisk = K.DISK_LIKE.includes(bottleneck);
      if (bottleneck === "serial" && measured.shows.one_size) return evidence === bottleneck;
      if (isDisk && diskIsFree) return evidence === bottleneck || measured.shows.disks;
      if (facts.accounted || evidence !== null || isDisk) return true;
      return measured.shows.vcpus || (bottleneck === "accelerator" && measured.shows.accelerators);
    };

    // Of what has no answer, `refused` is the code of the reason. The controls ask for nothing else that has none.
    const predict = (asked, whatIf) => {
      const at = withUsualAccelerator(asked), plain = isPlain(whatIf);
      const { rate = null, evidence = null, value = null, low, high } = rates.get(keyOf(at)) ?? {};
      const own = value === null ? null : { value, low, high }, extrapolated = outside(at) > 0;
      if (whatIf.gpu_speedup !== 1 && labelAt(at) === K.CPU_LABEL) return { refused: "no_gpu_to_speed_up" };
      if (doesNotFit(at)) {
        const throughput = { value: 0, low: 0, high: 0 };
        return { throughput, bottleneck: "memory", shares: { memory: 1 }, extrapolated, out_of_memory: true };
      }
      if (data.refused && !(plain && rate)) return { refused: "not_fitted" };
      if (data.sizes_alone && !sizes.includes(at.memory_bytes)) return { refused: "too_few_values" };
      const row = buildRow(at, whatIf), solutions = learnt.map(({ draw }) => solve(draw, row));
      const drawn = solutions.map(sharesOf), stages = drawn[0].map((_, stage) => sum(drawn.map(draw => draw[stage])));
      const shares = sharesByBottleneck(stages, row.read_is_iops);
      const bottleneck = bottleneckOf(shares, plain ? evidence : null);
      const shown = isShown(evidence, bottleneck, row.is_free);
      return {
        throughput: (plain && own) || newRun(solutions, at),
        bottleneck: shown ? bottleneck : "ambiguous", shares: shown ? shares : {},
        extrapolated: extrapolated || row.supposed, out_of_memory: false, measured: plain ? rate : null,
      };
    };
    return { predict, anonymousBytes };
  };
  return { WHAT_IF, isPlain, workload };
};
