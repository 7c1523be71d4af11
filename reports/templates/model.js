// The equations of sizer/model, part by part, for the sliders of the page: what `sizer predict` says, computed here.
// Each function names its counterpart in Python; constants have one definition there and come with the data, whose
// keys are the names of Python's fields (sizer/model/plain_data.py). A test compares both at random places.
const Model = (() => {
  "use strict";

  // --- scaling.py: how the CPU's time for a sample falls with vCPUs ------------------------------------------------
  const clip = (value, low, high) => Math.max(low, Math.min(high, value));
  const share = logit => 1 / (1 + Math.exp(-clip(logit, -40, 40)));  // _share

  // FORMS: [ln factor on the linear CPU time, the part of it that is contention]
  const overhead = (vcpus, parameter) => {
    const more = Math.exp(clip(parameter("overhead"), -40, 5)), one = 1 / Math.max(1, vcpus), whole = 1 + more * (1 - one);
    return [Math.log(whole), vcpus > 1 ? Math.min(more * one / whole, 1) : 0];
  };
  const siblings = (vcpus, parameter, { LEAST }) => {
    const knee = Math.max(1, Math.exp(clip(parameter("knee"), -5, 15))), gain = parameter("yield");
    const over = Math.max(0, vcpus - knee), [shared, apart] = overhead(vcpus, parameter);
    const effective = Math.max(Math.min(vcpus, knee) + gain * over, LEAST * vcpus);
    const wasted = apart + (over > 0 ? clip(1 - gain * vcpus / effective, 0, 1) : 0);
    return [shared + Math.log(vcpus / effective), Math.min(wasted, 1)];
  };
  const FORMS = {
    linear: () => [0, 0],
    usl: (vcpus, parameter) => {
      const extra = Math.max(0, vcpus - 1);
      const more = share(parameter("contention")) * extra + Math.exp(parameter("coherence")) * extra * vcpus;
      return [Math.log(1 + more), more / (1 + more)];
    },
    siblings,
    paired: (vcpus, parameter, { LEAST_YIELD, MOST_YIELD }) => {
      const gain = clip(parameter("yield"), LEAST_YIELD, MOST_YIELD);
      const whole = Math.ceil(vcpus), seconds = Math.floor(whole / 2);
      return [Math.log(whole / (whole - seconds + gain * seconds)), 0];
    },
  };

  // --- coordinates.py ----------------------------------------------------------------------------------------------
  const vcpusOf = at => at.vcpus ?? 1;
  const batchOf = at => at.batch_size ?? 1;
  const gpusOf = at => at.gpu_count || 0;
  const noMore = (one, other) => one === null || other === null || one <= other;
  const fillsAccelerators = (at, killed) =>
    at.gpu === killed.gpu && Math.max(1, gpusOf(at)) <= Math.max(1, gpusOf(killed)) && batchOf(at) >= batchOf(killed);
  const needsNoLess = (at, killed) =>
    fillsAccelerators(at, killed) && noMore(killed.vcpus, at.vcpus) && noMore(at.memory_bytes, killed.memory_bytes);

  const sum = values => values.reduce((total, value) => total + value, 0);
  const logAddExp = (one, other) => {
    const most = Math.max(one, other);
    return most === -Infinity ? most : most + Math.log(Math.exp(one - most) + Math.exp(other - most));
  };
  const log = seconds => seconds > 0 ? Math.log(seconds) : -Infinity;
  const keyOf = at => JSON.stringify(at);

  // Of several equal ones the first, as Python's min and max have it.
  const least = (values, by) => values.reduce((found, each) => found === null || by(each) < by(found) ? each : found, null);
  const most = (values, by) => least(values, each => -by(each));

  const WHAT_IF = { gpu_speedup: 1, disk_rates: null, data_bytes_factor: 1, decode_factor: 1 };
  const STAGES = ["cpu", "serial", "accelerator", "read", "write", "memory", "latency"];
  const [CPU, SERIAL, ACCELERATOR, READ, WRITE, MEMORY, LATENCY] = STAGES.keys();
  const NEIGHBOURED = ["vcpus", "memory_bytes", "batch_size", "gpu_count"];

  // Why there is no prediction: a code of ReasonCode, with the axis where it has one. The page has the sentences.
  class Refused extends Error {
    constructor(code) { super(code); this.code = code; }
  }

  // The model of one workload: `data` is what plain_data.py wrote, `K` the constants of the equations, `PLACE` in which
  // order it writes the values of a configuration.
  const workload = (data, K, PLACE) => {
    const { facts, members } = data;
    const placed = values => Object.fromEntries(PLACE.map((name, index) => [name, values[index]]));
    const ratesOf = ([name, read_iops, read_bytes_per_second, write_iops, write_bytes_per_second]) =>
      [name, { read_iops, read_bytes_per_second, write_iops, write_bytes_per_second }];

    const memoryOf = at => at.memory_bytes ?? K.GIB;
    const nameOfDisk = name => name ?? K.HOST_DISK;
    const diskOf = at => nameOfDisk(at.disk);
    const kindOf = at => JSON.stringify([at.gpu, diskOf(at)]);

    // --- model.py: MeasuredRange -----------------------------------------------------------------------------------
    const measured = {
      ...data.measured,
      gpus: data.measured.gpus.map(([gpu, count]) => ({ gpu, count })),
      disks: new Map(data.measured.disks.map(ratesOf).map(([name, rates]) => [nameOfDisk(name), { name, rates }])),
      trials: data.measured.trials.map(([vcpus, batch_size, memory_bytes, completed, anonymous, searched]) =>
        ({ vcpus, batch_size, memory_bytes, completed, anonymous, searched })),
      did_not_fit: data.measured.did_not_fit.map(placed),
      overfilled: data.measured.overfilled.map(placed),
      memory_on_disks: new Map(Object.entries(data.measured.memory_on_disks)),
      slower_with_more: new Set(data.measured.slower_with_more.map(kind => JSON.stringify(kind))),
      rates: data.measured.rates.map(values => {
        const [value, low, high, evidence] = values.slice(PLACE.length);
        return { configuration: placed(values), value, low, high, evidence };
      }),
    };
    const diskIsFreeBy = (rates) => readSeconds(rates) === null && writeSeconds(rates) === null;

    const othersOf = (at, axis) => JSON.stringify(PLACE.filter(name => name !== axis).map(name => at[name]));
    const ratesAlong = Object.fromEntries(NEIGHBOURED.map(axis => {
      const found = new Map();
      for (const rate of measured.rates) {
        const here = rate.configuration[axis], others = othersOf(rate.configuration, axis);
        if (here === null) continue;
        if (!found.has(others)) found.set(others, new Map());
        found.get(others).set(here, rate);
      }
      return [axis, found];
    }));

    const rateAt = at => measured.rates.find(({ configuration: here }) =>
      here.vcpus === at.vcpus && diskOf(here) === diskOf(at) && here.batch_size === at.batch_size
      && here.gpu === at.gpu && here.gpu_count === at.gpu_count
      && (here.memory_bytes === at.memory_bytes || measured.memory_bytes.length <= 1)) ?? null;
    const evidenceAt = at => rateAt(at)?.evidence ?? null;

    // --- feeds.py --------------------------------------------------------------------------------------------------
    const labelAt = at => at.gpu ?? facts.accelerator ?? K.CPU_LABEL;
    const withUsualAccelerator = at => {
      if (!measured.gpus.length) return at;
      const usual = measured.gpus[0], named = measured.gpus.some(each => each.gpu !== null);
      const gpu = at.gpu !== null && named ? at.gpu : usual.gpu;
      const alike = measured.gpus.find(each => each.gpu === gpu) ?? usual;
      return { ...at, gpu, gpu_count: gpusOf(at) || alike.count };
    };

    // --- memory.py -------------------------------------------------------------------------------------------------
    const bounds = known => {  // _bounds
      const failed = Math.max(-1, ...known.filter(trial => !trial.completed).map(trial => trial.memory_bytes));
      const held = known.filter(trial => trial.completed && trial.memory_bytes > failed).map(trial => trial.memory_bytes);
      return { out_of_memory_bytes: failed < 0 ? null : failed, completed_bytes: held.length ? Math.min(...held) : null };
    };
    const floorAt = (vcpus, batch) => {
      const fail = measured.trials.filter(
        t => !t.completed && noMore(t.vcpus, vcpus) && noMore(t.batch_size, batch));
      const completed = measured.trials.filter(t => t.completed);
      const hold = completed.filter(t => noMore(vcpus, t.vcpus) && noMore(batch, t.batch_size));
      return bounds([...fail, ...(hold.length ? hold : completed)]);
    };
    const anonymousBytes = (vcpus, batch) => {  // _peak
      const known = measured.trials.filter(trial => trial.completed && trial.anonymous);
      const ordinary = known.filter(trial => !trial.searched), seen = ordinary.length ? ordinary : known;
      const near = seen.filter(trial => noMore(trial.vcpus, vcpus) && noMore(trial.batch_size, batch));
      const peaks = (near.length ? near : seen).map(trial => trial.anonymous);
      return peaks.length ? (near.length ? Math.max(...peaks) : Math.min(...peaks)) : null;
    };
    const cachedFraction = (memory, anonymous, factor) =>
      facts.data_bytes ? Math.min(1, Math.max(0, memory - (anonymous ?? 0)) / (facts.data_bytes * factor)) : 0;
    const hitRate = cached => {
      if (cached >= 1) return 1;
      if (facts.sequential || cached <= 0) return 0;
      const unseen = 1 - cached;
      return (1 - facts.hit_blend) * (cached + unseen * Math.log(unseen)) + facts.hit_blend * cached;
    };

    // --- stages.py -------------------------------------------------------------------------------------------------
    const slower = (volume, volumeRate, requests, requestRate, factor) => {  // _slower
      const byBytes = volume !== null && volumeRate ? volume / volumeRate : null;
      const byRequests = requests !== null && requestRate ? requests / requestRate : null;
      if (byBytes === null && byRequests === null) return null;
      return [factor * Math.max(byBytes ?? 0, byRequests ?? 0), (byRequests ?? 0) > (byBytes ?? 0)];
    };
    const readSeconds = (rates, missed = 1) => slower(
      facts.read_bytes, rates.read_bytes_per_second, facts.read_ios, rates.read_iops, Math.max(missed, 0));
    const writeSeconds = rates => slower(
      facts.written_bytes, rates.write_bytes_per_second || rates.read_bytes_per_second,
      facts.write_ios, rates.write_iops || rates.read_iops, 1)?.[0] ?? null;
    const asGood = (disk, other) => {
      const limits = rates => [rates.read_bytes_per_second, rates.read_iops,
        rates.write_bytes_per_second || rates.read_bytes_per_second, rates.write_iops || rates.read_iops];
      const needs = [facts.read_bytes, facts.read_ios, facts.written_bytes, facts.write_ios];
      const own = limits(disk), its = limits(other), used = [...needs.keys()].filter(index => needs[index]);
      return used.length > 0
        && used.every(index => own[index] !== null && its[index] !== null && own[index] >= its[index]);
    };
    const diskIsFree = name => {
      const disk = measured.disks.get(nameOfDisk(name));
      return disk === undefined || diskIsFreeBy(disk.rates);
    };
    const hitShare = (at, factor) => facts.natural
      ? hitRate(cachedFraction(memoryOf(at), anonymousBytes(at.vcpus, at.batch_size), factor)) : 0;
    const missedAt = (at, whatIf) => {  // _missed
      if (facts.cached) return 0;
      const missed = 1 - hitShare(at, whatIf.data_bytes_factor);
      return facts.natural ? missed * facts.read_amplification : missed;
    };
    const diskRow = (structure, at, whatIf, missed) => {  // _disk_row
      const row = { read: -Infinity, read_is_iops: false, write: -Infinity, missed: 0, disk: -1 };
      if (!facts.reads) return row;
      const index = whatIf.disk_rates === null ? structure.disks.indexOf(diskOf(at)) : -1;
      if (index >= 0 && diskIsFree(at.disk)) {
        return { ...row, read: log(missed / (K.UNBINDING * facts.highest_rate)), missed, disk: index };
      }
      const rates = whatIf.disk_rates ?? measured.disks.get(diskOf(at))?.rates ?? {};
      const [read, isIops] = readSeconds(rates, missed) ?? [0, false];
      const write = facts.computes ? writeSeconds(rates) ?? 0 : 0;
      return { read: log(read), read_is_iops: isIops, write: log(write), missed, disk: index };
    };
    const level = (structure, memory) => {  // _level
      if (!structure.memory_levels.length) return -1;
      return Math.max(0, structure.memory_levels.findLastIndex(each => each <= memory));
    };
    const statedSpeedUp = count => {  // WorkloadFacts.stated_speed_up, in ln
      const loss = facts.scaling_loss;
      return loss === null ? 0 : Math.log(count) - loss * 2 * (count - 1) / count;
    };
    const buildDesign = (structure, at, whatIf, missed) => ({
      ...diskRow(structure, at, whatIf, missed),
      vcpus: vcpusOf(at),
      batch_ratio: facts.reference_batch / Math.max(1, batchOf(at)),
      memory_level: level(structure, memoryOf(at)),
      accelerator: structure.accelerators.indexOf(labelAt(at)),
      gpus: Math.max(1, gpusOf(at)),
      speed_up: statedSpeedUp(Math.max(1, gpusOf(at))),
      supposed: whatIf.disk_rates !== null,
      step_on_cpu: facts.mixed_with_cpu ? labelAt(at) === K.CPU_LABEL : true,
      decode_shift: Math.log(whatIf.decode_factor),
      accelerator_shift: -Math.log(whatIf.gpu_speedup),
    });

    // --- equation.py -----------------------------------------------------------------------------------------------
    const levelsOf = structure => {  // _levels
      const levels = structure.memory_levels;
      return { limits: levels, misses: levels.slice(1), slows: levels.slice(0, -1) }[structure.memory_acts];
    };
    const cpu = (structure, parameter, row, times) => {  // _cpu; what it returns is the contention
      const decode = -parameter("rate") + row.decode_shift;
      const works = structure.step_apart && facts.computes && row.step_on_cpu;
      const work = works ? logAddExp(decode, parameter("step")) : decode;
      const [factor, contention] = FORMS[structure.scaling](row.vcpus, parameter, K);
      times[CPU] = work + factor - Math.log(row.vcpus);
      if (structure.quota && row.vcpus % 1 > 0) times[CPU] += parameter("quota");
      if (structure.capped && structure.cap_stage === "serial") times[SERIAL] = -parameter("cap");
      return contention;
    };
    const accelerator = (structure, parameter, row, times) => {  // _accelerator
      if (!facts.computes) return;
      const lost = structure.several_gpus ? Math.exp(clip(parameter("gpus"), -40, 20)) : 0;
      const gpus = structure.several_gpus ? row.gpus / (1 + lost * (row.gpus - 1)) : 1;
      const time = name => -parameter(name) + row.accelerator_shift - row.speed_up - Math.log(gpus);
      if (structure.capped && structure.cap_stage === "accelerator") times[ACCELERATOR] = time("cap");
      if (row.accelerator >= 0) times[ACCELERATOR] = time(`accelerator:${structure.accelerators[row.accelerator]}`);
    };
    const batch = (structure, parameter, row, times) => {  // _batch
      const stage = structure.batch_stage === "accelerator" ? ACCELERATOR : CPU;
      const launch = Math.exp(parameter("batch"));
      times[stage] += Math.log((1 + launch * row.batch_ratio) / (1 + launch));
    };
    const disk = (structure, parameter, row, times) => {  // _disk
      times[READ] = row.read;
      times[WRITE] = row.write;
      const wait = given => Math.log(row.missed) - Math.log(Math.ceil(row.vcpus)) + given;
      if (row.supposed && structure.blocking.length && row.missed > 0) {
        times[LATENCY] = wait(Math.min(...structure.blocking.map(name => parameter(`latency:${name}`))));
      }
      if (row.disk < 0) return;
      const name = structure.disks[row.disk];
      for (const stage of [READ, WRITE]) times[stage] -= parameter(`disk:${name}`);
      if (structure.blocking.includes(name) && row.missed > 0) {
        times[LATENCY] = wait(parameter(`latency:${name}`));
      }
    };
    const memory = (structure, parameter, row, times) => {  // _memory
      const here = structure.memory_levels[row.memory_level];
      if (!facts.computes || here === undefined || !levelsOf(structure).includes(here)) return;
      const given = parameter(`${K.LEVEL_KINDS[structure.memory_acts]}:${here}`);
      if (structure.memory_acts === "limits") times[MEMORY] = -given;
      else if (structure.memory_acts === "misses") times[READ] += given;
      else for (const stage of STAGES.keys()) times[stage] += given;
    };
    const combine = (times, sharpness, contention) => {  // _combine
      const blocked = times[LATENCY], worker = logAddExp(times[CPU], blocked);
      const computing = Number.isFinite(worker) ? Math.exp(times[CPU] - worker) : 1;
      times[CPU] = worker;
      times[LATENCY] = -Infinity;
      const p = Math.exp(clip(sharpness, ...K.LOG_SHARPNESS));
      const powered = times.map(time => p * time), top = Math.max(...powered);
      const total = top + Math.log(sum(powered.map(each => Math.exp(each - top))));
      const shares = powered.map(each => Math.exp(each - total));
      shares[LATENCY] = shares[CPU] * (1 - computing);
      shares[CPU] *= computing;
      return { log_rate: -total / p, shares, contention };
    };
    const solve = (structure, names, theta, row) => {
      const times = STAGES.map(() => -Infinity), parameter = name => theta[names.get(name)];
      const contention = cpu(structure, parameter, row, times);
      accelerator(structure, parameter, row, times);
      if (structure.batch_stage) batch(structure, parameter, row, times);
      disk(structure, parameter, row, times);
      memory(structure, parameter, row, times);
      return combine(times, theta[theta.length - 1], contention);
    };
    const indexed = members.map(member => new Map(member.names.map((name, index) => [name, index])));

    // --- residual.py -----------------------------------------------------------------------------------------------
    const residual = data.residual && gaussianProcess(
      { ...data.residual, places: data.residual.places.map(placed) }, K,
      at => [vcpusOf(at), Math.max(1, memoryOf(at)), Math.max(1, batchOf(at)), Math.max(1, gpusOf(at))].map(Math.log),
      (one, other) => (diskOf(one) === diskOf(other) ? 1 : K.OTHER_KIND) * (one.gpu === other.gpu ? 1 : K.OTHER_KIND));

    // --- predicted_rates.py ----------------------------------------------------------------------------------------
    // predict_rates at one place; the draws, which say how sure it is, only where they are asked for.
    const ratesAt = (asked, whatIf = WHAT_IF, drawn = false) => {
      const at = withUsualAccelerator(asked), missed = missedAt(at, whatIf);
      const found = { at, mean: 0, shares: STAGES.map(() => 0), contention: 0, read_is_iops: false, draws: [] };
      members.forEach((member, index) => {
        const { structure, weight } = member, row = buildDesign(structure, at, whatIf, missed);
        const centre = solve(structure, indexed[index], member.estimate, row);
        found.mean += weight * centre.log_rate;
        centre.shares.forEach((each, stage) => { found.shares[stage] += weight * each; });
        found.contention += weight * centre.shares[CPU] * centre.contention;
        found.read_is_iops = row.read_is_iops;
        if (!drawn) return;
        for (const theta of member.draws) {
          found.draws.push([solve(structure, indexed[index], theta, row).log_rate, weight / member.draws.length]);
        }
      });
      if (residual) found.mean += residual.mean(at);
      return found;
    };
    const meanAt = at => ratesAt(at).mean;
    // PredictedRates.between: one place this far (0 to 1) from the first of two to the second.
    const between = ([one, other], position) => {
      const blend = (a, b) => (1 - position) * a + position * b;
      return {
        parts: [[one.at, 1 - position], [other.at, position]],
        mean: blend(one.mean, other.mean),
        shares: one.shares.map((each, stage) => blend(each, other.shares[stage])),
        contention: blend(one.contention, other.contention),
        read_is_iops: one.read_is_iops,
        draws: one.draws.map(([rate, weight], index) => [blend(rate, other.draws[index][0]), weight]),
      };
    };
    // PredictedRates.variance
    const variance = ({ mean, draws, parts }) => {
      const offset = residual ? sum(parts.map(([at, weight]) => weight * residual.mean(at))) : 0;
      const centre = sum(draws.map(([rate, weight]) => weight * rate));
      const spread = sum(draws.map(([rate, weight]) => weight * (rate - centre) ** 2));
      return spread + (centre + offset - mean) ** 2 + (residual ? residual.variance(parts) : 0);
    };

    // --- ceilings.py -----------------------------------------------------------------------------------------------
    const isFree = name => {  // _is_free
      const [kind, ...rest] = name.split(":"), key = rest.join(":");
      if (kind === "accelerator") return !facts.accelerator_rates.includes(key);
      return kind === "disk" && diskIsFree(key);
    };
    const withoutUnknown = members.map(member => member.estimate.map((value, index) => {
      const name = member.names[index];
      if (name === "step" || name.startsWith("latency:")) return value - K.FAR;
      return K.UNKNOWN.includes(name) || name.startsWith("memory:") || isFree(name) ? value + K.FAR : value;
    }));
    const knownCeiling = asked => {  // known_ceilings
      const at = withUsualAccelerator(asked), missed = missedAt(at, WHAT_IF);
      return sum(members.map((member, index) => {
        const row = buildDesign(member.structure, at, WHAT_IF, missed);
        const rate = solve(member.structure, indexed[index], withoutUnknown[index], row).log_rate;
        return rate > K.FAR / 2 ? Infinity : member.weight * rate;
      }));
    };
    const atKnownCeiling = at => meanAt(at) >= knownCeiling(at) + Math.log(K.REACHED)
      && !K.CONTRADICTS.includes(evidenceAt(at));

    // --- edge.py -----------------------------------------------------------------------------------------------
    const doublings = (at, more) =>
      vcpusOf(more) > vcpusOf(at) ? Math.min(1, Math.log2(vcpusOf(more) / vcpusOf(at))) : 1;
    const perDoubling = (gain, steps) => Math.exp(gain / steps) - 1;
    const gainOf = (at, more) => {  // _gain
      const [one, other] = [ratesAt(at, WHAT_IF, true), ratesAt(more, WHAT_IF, true)], steps = doublings(at, more);
      const moved = residual ? residual.mean(other.at) - residual.mean(one.at) : 0;
      const margins = other.draws.map(
        ([rate, weight], index) => [rate - one.draws[index][0] + moved - steps * Math.log(1 + K.GAIN), weight]);
      const unsure = residual ? residual.variance([[one.at, -1], [other.at, 1]]) : 0;
      return {
        gain: perDoubling(other.mean - one.mean, steps),
        probability: reaches(margins, Math.sqrt(2 * data.misfit ** 2 + unsure)),
      };
    };
    const reaches = (margins, spread) => sum(margins.map(([value, weight]) =>
      weight * (spread > 0 ? 0.5 * erfc(-value / (spread * Math.SQRT2)) : value >= 0 ? 1 : 0)))
      / sum(margins.map(([, weight]) => weight));
    const memoryCounts = facts.natural || members.some(member => member.structure.memory_levels.length);
    const seen = (less, more) => {  // _seen
      const known = new Map(measured.rates.map(rate => [keyOf(rate.configuration), rate]));
      const top = withUsualAccelerator(more), gains = [];
      for (const { configuration, value } of known.values()) {
        const before = known.get(keyOf({ ...configuration, vcpus: less.vcpus }));
        if (before && keyOf({ ...configuration, memory_bytes: top.memory_bytes }) === keyOf(top)
          && (memoryOf(configuration) === memoryOf(top) || !memoryCounts)) gains.push(Math.log(value / before.value));
      }
      return gains.length ? perDoubling(sum(gains) / gains.length, doublings(less, more)) : null;
    };
    const vcpusEdge = best => {  // _vcpus_edge, with what trend.py makes of it: whether the rate still rises
      const known = measured.vcpus;
      if (known.length < 2) return { rising: false };
      const top = { ...best, vcpus: known.at(-1) };
      if (atKnownCeiling(top)) return { rising: false };
      const less = { ...best, vcpus: data.before_the_last_doubling };
      const { gain, probability } = gainOf(less, top);
      const rising = Math.min(gain, seen(less, top) ?? gain) > K.GAIN && probability >= K.CLEAR;
      return { rising, gain };
    };

    // --- onward.py -------------------------------------------------------------------------------------------------
    const edges = new Map();
    const stillRises = at => {  // still_rises
      if (measured.vcpus.length < K.ENOUGH) return null;
      const top = { ...at, vcpus: measured.vcpus.at(-1) }, key = keyOf(top);
      if (!edges.has(key)) edges.set(key, vcpusEdge(top));
      return edges.get(key).rising ? edges.get(key) : null;
    };
    const onward = at => {
      const known = measured.vcpus, vcpus = vcpusOf(at);
      if (known.length < K.ENOUGH || vcpus <= known.at(-1) || stillRises(at) === null) return null;
      const few = data.before_the_last_doubling, top = known.at(-1);
      const less = meanAt({ ...at, vcpus: few }), now = meanAt({ ...at, vcpus: top });
      const ceiling = Math.max(now, knownCeiling(at));
      const divided = (Math.exp(-less) - Math.exp(-now)) / (1 / few - 1 / top);
      const seconds = Math.exp(-now) - divided * (1 / top - 1 / vcpus);
      const repeated = now + (now - less) * Math.log(vcpus / top) / Math.log(top / few);
      const linear = now + Math.log(vcpus / top);
      const expected = Math.min(linear, seconds > 0 ? -Math.log(seconds) : linear);
      return { now, expected: Math.min(ceiling, expected), highest: Math.min(ceiling, Math.max(expected, repeated)) };
    };
    const splitByLastDoubling = (at, shares) => {  // split_by_last_doubling
      const known = measured.vcpus;
      if (known.length < K.ENOUGH || !("serial" in shares)) return shares;
      if (!(data.before_the_last_doubling < vcpusOf(at) && vcpusOf(at) <= known.at(-1))) return shares;
      const edge = stillRises(at);
      if (edge === null) return shares;
      const own = shares.cpu ?? 0, both = own + shares.serial;
      const part = Math.max(own / both, Math.min(1, Math.log2(1 + edge.gain)));
      return { ...shares, cpu: part * both, serial: (1 - part) * both };
    };
    const isOpen = (at, found) => found !== null && found.expected > meanAt(at) + Math.log(1 + K.GAIN);

    // --- attribution.py --------------------------------------------------------------------------------------------
    const sharesByBottleneck = ({ shares, contention, read_is_iops }) => {
      const named = {
        cpu: shares[CPU] - contention,
        serial: shares[SERIAL] + contention,
        [read_is_iops ? "disk_iops" : "disk_bandwidth"]: shares[READ] + shares[LATENCY],
        disk_write: shares[WRITE],
        accelerator: shares[ACCELERATOR],
        memory: shares[MEMORY],
      };
      const total = sum(Object.values(named));
      return Object.fromEntries(
        Object.entries(named).filter(([, each]) => each > 1e-9).map(([name, each]) => [name, each / total]));
    };
    const alike = (one, other) => [K.CPU_LIKE, K.DISK_LIKE].some(kind => kind.includes(one) && kind.includes(other));
    const ordered = shares => Object.keys(shares).sort((one, other) => shares[other] - shares[one]);
    const noSingle = shares => {  // no_single
      const [first, second] = ordered(shares);
      return second !== undefined && shares[first] - shares[second] <= K.CLOSE && shares[first] < K.MAJORITY
        && !alike(first, second);
    };
    const bottleneckOf = (shares, evidence) => {
      if (noSingle(shares)) return "ambiguous";
      const first = ordered(shares)[0];
      if (evidence === null || evidence === first) return first;
      const both = K.CPU_LIKE.includes(evidence) && K.CPU_LIKE.includes(first);
      if (both && shares[first] - (shares[evidence] ?? 0) <= K.CLOSE) return evidence;
      return alike(evidence, first) ? first : "ambiguous";
    };
    const withAccountedCpu = (at, shares) => {
      if (measured.vcpus.length !== 1 || !("serial" in shares) || evidenceAt(at) !== "cpu") return shares;
      const { serial, ...moved } = shares;
      return { ...moved, cpu: (shares.cpu ?? 0) + serial };
    };
    const shown = (at, bottleneck, shares) => {
      const accounted = measured.rates.some(each => each.evidence === "serial");
      if (bottleneck === "serial" && data.noise > K.GAIN && !accounted) return false;
      const apart = evidenceAt(at) === bottleneck || (shares.serial ?? 0) <= K.CLOSE;
      if (K.CPU_LIKE.includes(bottleneck) && measured.vcpus.length === 1 && !apart) return false;
      if (!K.SHOWN_BY_VCPUS.includes(bottleneck) || facts.accounted) return true;
      if (bottleneck === "accelerator" && facts.accelerator_rates.length) return true;
      return design.vcpusWith(at).size > 1 || evidenceAt(at) !== null;
    };
    const gainOver = (places, here) => places.length ? Math.max(...places.map(meanAt)) - here : -Infinity;  // _gain
    const shownByAnAxis = (at, shares, waits, here) => {
      const moved = { ...shares };
      const others = [...measured.disks.values()].filter(each => nameOfDisk(each.name) !== diskOf(at));
      const more = measured.memory_bytes.filter(size => size > memoryOf(at));
      const withMore = gainOver(more.map(size => ({ ...at, memory_bytes: size })), here);
      const elsewhere = gainOver(others.map(each => ({ ...at, disk: each.name })), here);
      let unshown = 0;
      if (diskIsFree(at.disk)) {
        const gain = Math.max(withMore, elsewhere);
        for (const name of ["disk_bandwidth", "disk_iops"]) {
          if (name in moved && !facts.accounted) {
            const busy = Math.min(gain <= K.FASTER ? waits : Math.max(0, waits - 1 + Math.exp(-gain)), moved[name]);
            moved[name] -= busy;
            moved.cpu = (moved.cpu ?? 0) + busy;
          }
          if (gain <= K.FASTER) {
            unshown += moved[name] ?? 0;
            delete moved[name];
          }
        }
      }
      let taken = unshown;
      if (withMore <= K.FASTER) {
        taken += moved.memory ?? 0;
        delete moved.memory;
      }
      if (taken > 0) moved.serial = (moved.serial ?? 0) + taken;
      return { shares: slowedByMemory(moved, withMore), unshown, elsewhere };
    };
    const onPlateau = shares =>
      ["serial", "accelerator"].includes(ordered(shares)[0]) && (shares.cpu ?? 0) <= K.CLOSE;
    const mayBeTheDisk = (at, { shares, unshown, elsewhere }) => {
      if (facts.accounted || evidenceAt(at) !== null || !facts.reads_disk || !onPlateau(shares)) return false;
      if (facts.accelerator_rates.length || !diskIsFree(at.disk)) return false;
      if (measured.disks.size !== 1 && !(unshown > K.CLOSE && elsewhere < -K.FASTER)) return false;
      const here = meanAt(at);
      return !notTheDisks(at).some(([other, sign]) => sign * (meanAt(other) - here) > K.FASTER);
    };
    const notTheDisks = at => {
      const counts = measured.gpus.filter(each => each.gpu === at.gpu && each.count !== null).map(each => each.count);
      return [
        ...measured.batch_size.map(size => [{ ...at, batch_size: size }, size > batchOf(at) ? 1 : -1]),
        ...counts.map(count => [{ ...at, gpu_count: count }, count > gpusOf(at) ? 1 : -1]),
        ...measured.vcpus.filter(vcpus => vcpus < vcpusOf(at)).map(vcpus => [{ ...at, vcpus }, 1]),
      ].filter(([other]) => keyOf(other) !== keyOf(at));
    };
    const slowedByMemory = (shares, withMore) => {  // _slowed_by_memory
      const slowing = sum(members.map(each => each.structure.memory_acts === "slows" ? each.weight : 0));
      if (slowing < 0.5 || withMore <= K.FASTER) return shares;
      const left = Math.exp(-withMore);
      const found = Object.fromEntries(Object.entries(shares).map(([name, each]) => [name, each * left]));
      return { ...found, memory: (found.memory ?? 0) + 1 - left };
    };

    // --- design.py and interplay.py: what was measured together ----------------------------------------------------
    const design = measuredDesign(measured, diskOf);
    const measuredTogether = at => facts.accounted || design.together(at);  // WorkloadModel.measured_together
    const slopes = (axis, near, value) => {  // _slopes
      const found = [];
      for (const rates of ratesAlong[axis].values()) {
        const [one, other] = [near, value].map(end => least([...rates.keys()], each => Math.abs(Math.log(each / end))));
        if (one !== other) found.push(Math.log(rates.get(other).value / rates.get(one).value) / Math.log(other / one));
      }
      return found;
    };
    const ofMove = (at, axis, near, value) => {  // _of_move
      const steps = Math.log(value / near), found = slopes(axis, near, value);
      if (!found.length) return (axis === "memory_bytes" ? K.AXIS_APART : K.AXIS_UNSEEN) * Math.abs(steps);
      const said = (meanAt(at) - meanAt({ ...at, [axis]: near })) / steps;
      const square = sum(found.map(each => (each - said) ** 2)) / found.length;
      return Math.hypot(K.AXIS_APART, Math.sqrt(square)) * Math.abs(steps);
    };
    const interplayDeviation = at => {
      const moves = design.moves(at);
      return moves === null ? K.NAMES_APART
        : Math.hypot(...[...moves].map(([axis, [near, value]]) => ofMove(at, axis, near, value)));
    };

    // --- machines_around.py ----------------------------------------------------------------------------------------
    const noiseOfTwo = K.NORMAL_90 * Math.SQRT2 * Math.max(K.LEAST_NOISE, data.noise);
    const countOf = rate => gpusOf(rate.configuration);
    const fastest = rates => most(rates, rate => rate.value);
    const ofKind = at => measured.rates.filter(rate => kindOf(rate.configuration) === kindOf(at));
    const needsNoMore = (one, other) => gpusOf(one) <= gpusOf(other) && noMore(one.vcpus, other.vcpus)
      && noMore(one.memory_bytes, other.memory_bytes) && noMore(one.batch_size, other.batch_size);
    const needsHolding = at => {
      const counts = ofKind(at).map(countOf), count = gpusOf(at);
      const inside = counts.length && Math.min(...counts) < count && count < Math.max(...counts);
      return (inside && !counts.includes(count)) || !measuredTogether(at);
    };
    const nextTo = (at, rates) => {  // _next_to
      const numbers = NEIGHBOURED.filter(name => at[name]);
      const distance = rate => sum(numbers.map(name => rate.configuration[name]
        ? Math.abs(Math.log(at[name] / rate.configuration[name])) : 0));
      const nearest = Math.min(...rates.map(distance));
      return fastest(rates.filter(rate => distance(rate) === nearest));
    };
    const heldByMachines = (at, found) => {
      if (!needsHolding(at)) return found;
      const known = ofKind(at);
      const below = nextTo(at, known.filter(rate => needsNoMore(rate.configuration, at)));
      const above = nextTo(at, known.filter(rate => needsNoMore(at, rate.configuration)));
      if (below === null || above === null) return found;
      const low = Math.min(below.value, above.value), high = Math.max(below.value, above.value);
      const reach = Math.exp(K.REACH_OF_MACHINES * Math.log(high / low) + noiseOfTwo);
      const value = clip(found.value, low, high);
      return {
        value,
        low: Math.min(Math.max(found.low, low / reach), value),
        high: Math.max(Math.min(found.high, high * reach), value),
      };
    };
    const noSlowerThanLess = (at, found) => {
      const less = fastest(ofKind(at).filter(
        ({ configuration }) => configuration.batch_size === at.batch_size && needsNoMore(configuration, at)));
      if (less === null || measured.slower_with_more.has(kindOf(at))) return found;
      return {
        value: Math.max(found.value, less.value),
        low: Math.max(found.low, less.low),
        high: Math.max(found.high, less.value),
      };
    };
    const exponent = (one, other) => Math.log(other.value / one.value) / Math.log(countOf(other) / countOf(one));
    const chainTo = (known, last) => {  // _chain
      const counts = [...new Set(known.map(countOf).filter(count => count < countOf(last)))].sort((a, b) => a - b);
      const found = counts.map(count => fastest(
        known.filter(rate => countOf(rate) === count && needsNoMore(rate.configuration, last.configuration))));
      return [...found.filter(rate => rate !== null), last];
    };
    const beyondCounts = at => {
      const count = gpusOf(at), known = ofKind(at), top = Math.max(0, ...known.map(countOf));
      if (top === 0 || count <= top || facts.accounted) return null;
      const last = fastest(known.filter(rate => countOf(rate) === top && needsNoMore(rate.configuration, at)));
      const chain = last === null ? [] : chainTo(known, last);
      if (chain.length < 2) return null;
      const start = chain.slice(0, -1).findLast(rate => countOf(rate) * K.DOUBLING <= top) ?? chain[0];
      const now = Math.log(last.value), more = Math.log(count / top);
      const lowest = Math.min(...chain.slice(1).map((other, index) => exponent(chain[index], other)));
      const fell = lowest < -noiseOfTwo / Math.log(K.DOUBLING) ? lowest * more : 0;
      const expected = now + more * clip(exponent(start, last), -1, 1);
      return estimate(
        expected, Math.min(now + fell, expected - noiseOfTwo), Math.max(now + more, expected) + noiseOfTwo);
    };

    // --- advice.py: where there is no answer -----------------------------------------------------------------------
    const known = (value, values) => values.includes(value) || values.length >= K.ENOUGH;
    const checkAxes = at => {
      for (const axis of ["vcpus", "memory_bytes", "batch_size"]) {
        if (at[axis] !== null && !measured[axis].length) throw new Refused(`not_in_table:${axis === "memory_bytes" ? "memory_gib" : axis}`);
      }
      for (const axis of ["vcpus", "batch_size"]) {
        if (at[axis] !== null && !known(at[axis], measured[axis])) throw new Refused(`too_few_values:${axis}`);
      }
      if (measured.gpus.length && !measured.gpus.some(each => each.gpu === at.gpu)) throw new Refused("gpu_not_measured");
      const counts = [...new Set(measured.gpus.map(each => Math.max(1, each.count ?? 0)))];
      if (counts.length && !known(Math.max(1, gpusOf(at)), counts)) throw new Refused("too_few_values:gpu_count");
      if (data.memory_matters && at.memory_bytes !== null && !known(at.memory_bytes, measured.memory_bytes)) {
        throw new Refused("between_memory_sizes");
      }
    };
    const checkWhatIf = (at, whatIf) => {
      if (!(Math.min(whatIf.gpu_speedup, whatIf.data_bytes_factor, whatIf.decode_factor) > 0)) {
        throw new Refused("factor_not_positive");
      }
      if (whatIf.gpu_speedup !== 1 && labelAt(at) === K.CPU_LABEL) throw new Refused("no_gpu_to_speed_up");
      if (whatIf.decode_factor !== 1 && [null, K.CPU_LABEL].includes(facts.accelerator) && !facts.step_apart) {
        throw new Refused("step_not_separate");
      }
      if (whatIf.disk_rates !== null && readSeconds(whatIf.disk_rates) === null) throw new Refused("reads_not_accounted");
      if (whatIf.disk_rates === null && measured.disks.size && !measured.disks.has(diskOf(at))) {
        throw new Refused("disk_not_measured");
      }
    };

    // --- prediction.py ---------------------------------------------------------------------------------------------
    const estimate = (value, low, high) => ({ value: Math.exp(value), low: Math.exp(low), high: Math.exp(high) });
    const isPlain = whatIf => Object.keys(WHAT_IF).every(name => whatIf[name] === WHAT_IF[name]);
    const counts = [...new Set(measured.gpus.map(each => each.count).filter(count => count))].sort((a, b) => a - b);

    const outside = at => sum(
      [[vcpusOf(at), measured.vcpus], [batchOf(at), measured.batch_size], [gpusOf(at), counts]].map(
        ([value, values]) => values.length && value
          ? Math.max(0, Math.log(values[0] / value), Math.log(value / values.at(-1))) : 0));
    const doesNotFit = at => {
      if (measured.did_not_fit.some(killed => needsNoLess(at, killed))) return true;
      if (measured.overfilled.some(killed => fillsAccelerators(at, killed))) return true;
      const size = memoryOf(at), floor = floorAt(at.vcpus, at.batch_size);
      if (floor.completed_bytes !== null && size >= floor.completed_bytes) return false;
      if (floor.out_of_memory_bytes !== null && size <= floor.out_of_memory_bytes) return true;
      const anonymous = anonymousBytes(at.vcpus, at.batch_size);
      return anonymous !== null && size < anonymous;
    };
    const fits = (at, whatIf) => {
      checkWhatIf(at, whatIf);
      if (doesNotFit(at)) return false;
      if (data.refused && (!isPlain(whatIf) || rateAt(at) === null)) throw new Refused("not_fitted");
      checkAxes(at);
      if (!members.length) throw new Refused("not_fitted");
      return true;
    };
    const pairUnmeasured = at => {
      if (Math.min(measured.disks.size, measured.memory_bytes.length) < 2 || !diskIsFree(at.disk)) return false;
      const here = measured.memory_on_disks.get(diskOf(at));
      return here !== undefined && !(here[0] <= memoryOf(at) && memoryOf(at) <= here[1]);
    };
    const memoryUnmeasured = at => {
      const sizes = measured.memory_bytes, size = memoryOf(at);
      if (!sizes.length || (sizes[0] <= size && size <= sizes.at(-1))) return false;
      return size < sizes[0] || (memoryCounts && sizes.length > 1);
    };
    const isBeyond = at => outside(at) > 0 || memoryUnmeasured(at) || !measuredTogether(at);
    const betweenLevels = at => {
      const sizes = measured.memory_bytes, size = memoryOf(at);
      const levels = members.some(member => member.structure.memory_levels.length);
      if (!levels || !sizes.length || !(sizes[0] < size && size < sizes.at(-1)) || sizes.includes(size)) return [at, at, 0];
      const low = sizes.findLast(each => each < size), high = sizes.find(each => each > size);
      const position = Math.log(size / low) / Math.log(high / low);
      return [{ ...at, memory_bytes: low }, { ...at, memory_bytes: high }, position];
    };
    const knownShare = ({ shares }) =>
      shares[READ] + shares[WRITE] + (facts.accelerator_rates.length ? shares[ACCELERATOR] : 0);
    const measuredNeighbours = at => NEIGHBOURED.flatMap(axis => {
      const here = at[axis], along = ratesAlong[axis].get(othersOf(at, axis)) ?? new Map(), values = [...along.keys()];
      const below = values.filter(value => value < here), above = values.filter(value => value > here);
      if (here === null || !below.length || !above.length || along.has(here)) return [];
      return [[axis, along.get(Math.max(...below)), along.get(Math.min(...above))]];
    });
    const heldByNeighbours = (at, found) => {
      for (const [axis, below, above] of measuredNeighbours(at)) {
        const noise = axis === "gpu_count" ? K.LEAST_NOISE : Math.min(Math.max(K.LEAST_NOISE, data.noise), K.MOST_NOISE);
        const less = Math.min(below.value, above.value), more = Math.max(below.value, above.value);
        const own = Math.max(below.high / below.value, above.high / above.value);
        const beyond = (more / less) ** K.REACH * Math.max(Math.exp(K.NORMAL_90 * 2 * noise), own);
        const low = Math.min(less, found.value) / beyond, high = Math.max(more, found.value) * beyond;
        found = { value: found.value, low: Math.max(found.low, low), high: Math.min(found.high, high) };
      }
      return found;
    };
    const estimated = (rates, at, whatIf, beyond, around) => {  // _estimate
      let spread = variance(rates), far = outside(at);
      spread += (K.BEYOND * far * (1 - 0.8 * knownShare(rates))) ** 2;
      if (whatIf.disk_rates !== null) spread += K.UNMEASURED_DISK ** 2;
      if (memoryUnmeasured(at)) spread += K.UNMEASURED_DISK ** 2;
      if (pairUnmeasured(at)) spread += K.UNMEASURED_PAIR ** 2;
      const noise = Math.max(data.widening, data.noise_widening) * data.noise;
      let half = Math.hypot(data.widening * Math.sqrt(spread), noise);
      if (!measuredTogether(at)) half = Math.hypot(half, K.NORMAL_90 * interplayDeviation(at));
      let centre = rates.mean;
      let low = Math.min(centre, ...around) - half, high = Math.max(centre, ...around) + half;
      if (beyond !== null && !(beyond.expected <= centre && centre <= beyond.highest)) {
        centre = clip(centre, beyond.expected, beyond.highest);
        [low, high] = [Math.min(beyond.now, centre - half), Math.max(beyond.highest, centre + half)];
      }
      if (far > 0 && isPlain(whatIf)) {
        const ceiling = knownCeiling(at);
        centre = Math.min(centre, ceiling);
        high = Math.max(centre, Math.min(high, ceiling + K.NORMAL_90 * data.noise));
        low = Math.min(low, centre);
      }
      const found = estimate(centre, low, high);
      if (!isPlain(whatIf)) return found;
      const beyondMost = beyondCounts(at);
      if (beyondMost !== null) return beyondMost;
      const held = heldByNeighbours(at, heldByMachines(at, found));
      return facts.accounted ? held : noSlowerThanLess(at, held);
    };

    // `predict` of api/predicting.py with that of prediction.py: throws Refused where the runs cannot say.
    const answered = (asked, whatIf) => {  // _answered
      const at = withUsualAccelerator(asked), plain = isPlain(whatIf);
      if (!fits(at, whatIf)) {
        return {
          throughput: { value: 0, low: 0, high: 0 }, bottleneck: "memory", shares: { memory: 1 }, or_disk: false,
          extrapolated: outside(at) > 0, out_of_memory: true, measured: false,
        };
      }
      const [lower, upper, position] = betweenLevels(at);
      const both = [lower, upper].map(each => ratesAt(each, whatIf, true)), rates = between(both, position);
      const own = plain ? rateAt(at) : null, beyond = plain ? onward(at) : null;
      const split = splitByLastDoubling(at, sharesByBottleneck(rates));
      const told = shownByAnAxis(at, split, rates.shares[LATENCY], rates.mean);
      let shares = withAccountedCpu(at, told.shares);
      const around = position > 0 && position < 1 ? both.map(each => each.mean) : [rates.mean];
      const atItsWord = own !== null && (data.refused || !facts.accounted);
      const throughput = atItsWord ? { value: own.value, low: own.low, high: own.high } : estimated(rates, at, whatIf, beyond, around);
      let bottleneck = isOpen(at, beyond) ? "ambiguous" : bottleneckOf(shares, own?.evidence ?? null);
      const isShown = shown(at, bottleneck, shares), orDisk = isShown && mayBeTheDisk(at, { ...told, shares });
      if (!isShown) [bottleneck, shares] = ["ambiguous", {}];
      else if (orDisk) bottleneck = "ambiguous";
      const guessed = K.CPU_LIKE.includes(bottleneck) && !measured.vcpus.length;
      return {
        throughput, shares, or_disk: orDisk,
        bottleneck: guessed && evidenceAt(at) !== bottleneck ? "ambiguous" : bottleneck,
        extrapolated: whatIf.disk_rates !== null || isBeyond(at), out_of_memory: false, measured: own !== null,
      };
    };
    const rateOn = (disk, at, whatIf) => {
      try {
        return answered({ ...at, disk }, whatIf).throughput.value;
      } catch (error) {
        if (error instanceof Refused) return Infinity;
        throw error;
      }
    };
    const predict = (asked, whatIf = WHAT_IF) => {
      const found = answered(asked, whatIf);
      if (whatIf.disk_rates === null || found.out_of_memory) return found;
      const better = [...measured.disks.values()].filter(({ rates }) => asGood(rates, whatIf.disk_rates));
      const { value, low, high } = found.throughput;  // _held_by_measured_disks
      const factor = Math.min(1, ...better.map(({ name }) => rateOn(name, asked, { ...whatIf, disk_rates: null }) / value));
      return { ...found, throughput: { value: value * factor, low: low * factor, high: high * factor } };
    };
    return { predict, rateAt, anonymousBytes };
  };

  // --- design.py: which values were measured together --------------------------------------------------------------
  const measuredDesign = ({ rates, design }, diskOf) => {
    const of = { disk: diskOf, accelerators: at => [at.gpu, at.gpu_count] };
    const rows = rates.map(rate => rate.configuration), numbers = design.numbers;
    const namesOf = at => design.names.map(name => of[name](at));
    const pairs = new Map(), vcpus = new Map(), withName = new Map(), spansAt = new Map(), values = {};
    const widen = (spans, key, value) => {
      const [low, high] = spans.get(key) ?? [value, value];
      spans.set(key, [Math.min(low, value), Math.max(high, value)]);
    };
    const keyed = (...parts) => JSON.stringify(parts);
    const numbersOf = at => numbers.filter(number => at[number] !== null);
    for (const row of rows) {
      const names = namesOf(row);
      pairs.set(keyed(names), names);
      if (!vcpus.has(keyed(names))) vcpus.set(keyed(names), new Set());
      vcpus.get(keyed(names)).add(row.vcpus);
      for (const number of numbersOf(row)) {
        (values[number] ??= new Set()).add(row[number]);
        names.forEach((name, place) => widen(withName, keyed(place, name, number), row[number]));
        for (const other of numbersOf(row)) {
          if (other !== number) widen(spansAt, keyed(number, row[number], other), row[other]);
        }
      }
    }
    for (const number of Object.keys(values)) values[number] = [...values[number]].sort((a, b) => a - b);

    const joined = spans => [Math.min(...spans.map(([low]) => low)), Math.max(...spans.map(([, high]) => high))];
    const inside = (value, spans) => {
      if (!spans.length) return false;
      const [low, high] = joined(spans);
      return low <= value && value <= high;
    };
    const nearest = (value, [low, high]) => clip(value, low, high);
    const measuredNames = at => {  // _measured_names
      const own = namesOf(at), place = design.names.indexOf("accelerators");
      if (pairs.has(keyed(own))) return [own];
      if (place < 0 || at.gpu_count === null) return [];
      const alike = new Map();
      for (const names of pairs.values()) {
        const [gpu, count] = names[place];
        if (gpu === at.gpu && count && keyed(names.slice(0, place)) === keyed(own.slice(0, place))) alike.set(count, names);
      }
      const below = [...alike.keys()].filter(count => count < at.gpu_count);
      const above = [...alike.keys()].filter(count => count > at.gpu_count);
      return below.length && above.length ? [alike.get(Math.max(...below)), alike.get(Math.min(...above))] : [];
    };
    const pairsOfNumbers = (at, names) => {
      const given = numbersOf(at);
      return names.length === 1
        ? given.flatMap((one, index) => given.slice(index + 1).map(other => [one, other])) : [];
    };
    const spansWith = (names, place, number) =>
      names.map(each => withName.get(keyed(place, each[place], number))).filter(span => span);
    const spans = (one, value, other) => {  // _spans
      const known = values[one] ?? [];
      const below = known.findLast(each => each < value), above = known.find(each => each > value);
      const near = known.includes(value) ? [value] : [below, above].filter(each => each !== undefined);
      return near.map(each => spansAt.get(keyed(one, each, other))).filter(span => span);
    };
    const bothWays = ([one, other]) => [[one, other], [other, one]];
    const heldIn = (at, pair) => bothWays(pair).some(([one, other]) => inside(at[other], spans(one, at[one], other)));

    const together = at => {
      const names = measuredNames(at);
      return names.length > 0
        && numbersOf(at).every(number => design.names.every(
          (_, place) => inside(at[number], spansWith(names, place, number))))
        && pairsOfNumbers(at, names).every(pair => heldIn(at, pair));
    };
    const moves = at => {
      const names = measuredNames(at), found = new Map();
      if (!names.length) return null;
      for (const number of numbersOf(at)) {
        for (const place of design.names.keys()) {
          const known = spansWith(names, place, number);
          if (!known.length) return null;
          if (!inside(at[number], known)) found.set(number, [nearest(at[number], joined(known)), at[number]]);
        }
      }
      for (const pair of pairsOfNumbers(at, names)) {
        if (heldIn(at, pair)) continue;
        for (const [one, other] of bothWays(pair)) {
          for (const span of spans(one, at[one], other)) {
            if (!found.has(other)) found.set(other, [nearest(at[other], span), at[other]]);
          }
        }
      }
      return found;
    };
    return { together, moves, vcpusWith: at => vcpus.get(keyed(namesOf(at))) ?? new Set() };
  };

  // --- residual.py: a Gaussian process over the measured places ----------------------------------------------------
  const gaussianProcess = ({ places, values, variances, amplitude, length }, K, logsOf, alike) => {
    const logs = places.map(logsOf);
    const covariance = (one, oneLogs, other, otherLogs) => {
      const scaled = Math.sqrt(3) * Math.hypot(...oneLogs.map((value, axis) => value - otherLogs[axis])) / length;
      return amplitude ** 2 * (1 + scaled) * Math.exp(-scaled) * alike(one, other);
    };
    const across = at => {
      const own = logsOf(at);
      return places.map((place, index) => covariance(at, own, place, logs[index]));
    };
    const dot = (one, other) => one.reduce((total, value, index) => total + value * other[index], 0);
    // _factorised, by Cholesky's factors instead of inverses; made when a place is first asked about.
    let made = null;
    const factorised = () => {
      if (made) return made;
      const prior = places.map(across);
      const plus = extra => prior.map((row, index) => row.map((value, other) => value + (index === other ? extra(index) : 0)));
      const noisy = cholesky(plus(index => variances[index])), alone = cholesky(plus(() => K.JITTER * amplitude ** 2));
      made = { prior, noisy, alone, weights: solved(noisy, values) };
      return made;
    };
    const mean = at => dot(across(at), factorised().weights);  // posterior
    // Of the sum of the process at several places, each with its weight: what the measured places leave open of it, and
    // what each place has of its own.
    const variance = parts => {
      const { prior, noisy, alone } = factorised();
      let own = 0;
      const reach = places.map(() => 0);
      for (const [at, weight] of parts) {
        const known = across(at), reached = solved(alone, known);
        own += weight ** 2 * Math.max(0, amplitude ** 2 - dot(reached, known));
        reached.forEach((value, index) => { reach[index] += weight * value; });
      }
      const spread = prior.map(row => dot(row, reach));
      return own + Math.max(0, dot(reach, spread) - dot(spread, solved(noisy, spread)));
    };
    return { mean, variance };
  };
  const cholesky = matrix => {
    const lower = [];
    matrix.forEach((row, i) => {
      lower.push([]);
      for (let j = 0; j <= i; j += 1) {
        let left = row[j];
        for (let k = 0; k < j; k += 1) left -= lower[i][k] * lower[j][k];
        lower[i].push(i === j ? Math.sqrt(left) : left / lower[j][j]);
      }
    });
    return lower;
  };
  const solved = (lower, values) => {
    const found = [...values];
    for (let i = 0; i < found.length; i += 1) {
      for (let k = 0; k < i; k += 1) found[i] -= lower[i][k] * found[k];
      found[i] /= lower[i][i];
    }
    for (let i = found.length - 1; i >= 0; i -= 1) {
      for (let k = i + 1; k < found.length; k += 1) found[i] -= lower[k][i] * found[k];
      found[i] /= lower[i][i];
    }
    return found;
  };
  // The complementary error function to 1.2e-7 (Numerical Recipes, erfcc), as `math.erfc`.
  const erfc = x => {
    const t = 1 / (1 + 0.5 * Math.abs(x));
    const series = [-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587,
      -0.82215223, 0.17087277].reduceRight((total, each) => each + t * total, 0);
    const found = t * Math.exp(-x * x + series);
    return x >= 0 ? found : 2 - found;
  };

  return { FORMS, WHAT_IF, Refused, workload };
})();
