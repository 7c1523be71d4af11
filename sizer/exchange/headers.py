"""What people call the columns of a table: the header of a spreadsheet -> a column of sizer and the unit it names."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace

from sizer.records.units import RELATIVE


@dataclass(frozen=True)
class Meaning:
    """The column of sizer that a header means.

    `unit` is that of a number without one in its cells (`GB`, `ms`), `sample_unit` what a rate counts. `if_numbers`: a
    header that means this only above numbers. `derived`: read only where nothing says the throughput itself. `inverse`:
    its cells are not that time, but how many of it there are in one `unit`. `per_gpu`: the rate of one accelerator.
    `of`: `node` where the header says that its figure is that of each of several machines, `all` that of all of them.
    """

    column: str
    unit: str = ""
    sample_unit: str = ""
    if_numbers: bool = False
    derived: bool = False
    inverse: bool = False
    per_gpu: bool = False
    of: str = ""


SECONDS_PER_EPOCH, SECONDS_PER_BATCH, SECONDS_PER_SAMPLE = (
    "seconds_per_epoch",
    "seconds_per_batch",
    "seconds_per_sample",
)
TIMES = (SECONDS_PER_BATCH, SECONDS_PER_EPOCH, SECONDS_PER_SAMPLE)
LATENCY = "latency_p50_ms"
UNSAID = "?"
"""The unit of a header that says none, where it could be another than the usual one."""

BATCH_PER_GPU = "batch_size_per_gpu"
"""The batch of one accelerator: `batch_size` is that times `gpu_count`."""
NODES = "nodes_together"
"""How many machines ran the job of a row together. Under this name, which sizer writes, a row has what all of them
have, under any other perhaps what each has."""
GPUS_PER_NODE = "gpus_per_node"
"""The accelerators of each of them, where another column has those of all."""
GPU_MEMORY = "gpu_memory_gb"
"""What tells an A100 of 40 GB from one of 80 where its name does not."""
USD_PER_GPU_HOUR, USD_PER_GPU_HOUR_SPOT = "usd_per_gpu_hour", "usd_per_gpu_hour_spot"
"""The price of one accelerator with its part of the machine: `usd_per_hour` is that times `gpu_count`."""
RATE_UNIT = "rate_unit"
"""The unit of the rates beside it, such as images/min."""

_SAME = {
    "workload": "job, job name, task, benchmark, workload name, 任务, 作业, 工作负载",
    "network": "model, net, architecture, arch, model name, network name, neural network, dnn, 模型, 网络, 模型名称, "
    "网络模型",
    "framework": "fw, dl framework, 框架",
    "precision": "dtype, data type, numeric precision, 精度, 数据类型",
    "vcpus": "cpus, cores, vcpu, num cpus, n cpus, cpu count, vcpu count, cpu cores, num cpu cores, num vcpus, "
    "n vcpus, number of vcpus, number of cpus, number of cpu cores, num cores, n cores, vcpu数, vcpu核数, cpu核数, "
    "cpu数, 核数, cpu核心数",
    "gpu_count": "gpus, num gpus, n gpu, n gpus, ngpus, ngpu, num gpu, number of gpus, accelerators, "
    "num accelerators, number of accelerators, accelerator count, count of gpus, gpu num, gpu number, devices, "
    "num devices, n devices, number of devices, device count, gpu数, gpu数量, gpu个数, gpu卡数, 显卡数, 显卡数量, "
    "卡数, 加速卡数",
    "gpu": "accelerator, device name, gpu type, gpu name, gpu model, gpu kind, gpu card, graphics card, "
    "accelerator type, accelerator name, accelerator model, gpu型号, 显卡, 显卡型号, 加速卡, 加速器",
    "batch_size": "batch, bs, batchsize, global batch size, total batch size, effective batch size, "
    "batch size total, batch size global, global batch, minibatch, minibatch size, mini batch size, 批大小, "
    "批次大小, 批量大小, 批量, 总批大小",
    BATCH_PER_GPU: "local batch size, local batch, batch per gpu, bs per gpu, batch size per gpu, batchsize per gpu, "
    "per gpu batch size, per gpu batch, batch size per device, per device batch size, batch per device, "
    "batch size per accelerator, minibatch per gpu, mini batch size per gpu, minibatch size per gpu, 单卡批大小, "
    "每卡批大小",
    NODES: "nodes, num nodes, n nodes, number of nodes, node count, nnodes, num node, hosts, num hosts, "
    "number of hosts, host count, machines, num machines, number of machines, machine count, servers, num servers, "
    "number of servers, server count, num instances, number of instances, instance count, 节点数, 节点数量, 机数, "
    "机器数, 机器数量, 服务器数, 服务器数量, 主机数",
    RATE_UNIT: "unit, units, throughput unit, throughput units, unit of throughput, 单位",
    "usd_per_hour": "usd",
    "usd_per_hour_spot": "spot",
    "instance_type": "instance, machine, machine type, vm, vm size, vm type, instance name, instance size, "
    "node type, ec2 instance, ec2 instance type, aws instance, aws instance type, sku, cluster, cluster setup, 实例, "
    "实例类型, 实例规格, 机型",
    "provider": "cloud, cloud provider, csp, 云厂商",
    "region": "地域, 区域",
    "disk": "storage, disk type, disk tier, storage type, storage tier, volume, volume type, 云盘, 云盘类型, 磁盘, "
    "磁盘类型, 硬盘, 存储, 存储类型",
    "disk_class": "storage class",
    "dataset_samples": "num samples, n samples, samples per epoch, images per epoch, num images, images, "
    "training images, number of images, number of samples, 样本数, 图片数",
}
_COLUMNS = {alias: column for column, aliases in _SAME.items() for alias in aliases.split(", ")}
_OF_NODES = {
    "node": re.compile(r"\bper (?:node|machine|instance|host|server|vm)\b|每(?:个?节点|台机器|台|机)|单机|单节点"),
    "all": re.compile(r"\b(?:in )?total\b|\boverall\b|总"),
}
"""How a header says whose its figure is, where several machines ran one job."""
_PRICED = re.compile(r"(?:price|usd|\$)(?!.*\bh(?:r|our)?\b)")
OF_NODES = ("gpu_count", "vcpus", "memory_gib", "usd_per_hour", "usd_per_hour_spot")
"""Columns of which a table may have what each of several machines has, or what all of them have."""

_SAMPLE_UNITS = {
    "image": "images?|imgs?|张|张图|图片",
    "sample": "samples?|examples?|items?|records?|样本|条",
    "token": "tokens?|toks?",
    "word": "words?|词",
    "sequence": "sequences?|seqs?",
    "sentence": "sentences?|句",
    "frame": "frames?|帧",
    "query": "query|queries",
    "request": "requests?|reqs?|请求",
    "inference": "inferences?|infs?",
}
_RATES = {"ips": "", "t per s": "token", "qps": "query", "fps": "frame", "rps": "request"}
"""`ips` are images, inferences or items, so it says no unit."""
_RELATIVE = re.compile(
    r"(?:relative|normalized|normalised|rel)(?: (?:throughput|performance|perf|speed|rate))?|speedup|speed up"
)
_SECOND = "s|sec|secs|second|seconds|秒"
_TIMES = {
    "ms": "ms|msec|msecs|milliseconds?|millis",
    "us": "us|µs|μs|microseconds?",
    "s": _SECOND,
    "min": "min|mins|minutes?|分钟",
    "h": "h|hr|hrs|hours?|小时",
}
_TIME = "|".join(f"(?P<{unit}>{names})" for unit, names in _TIMES.items())
_WHICH = (
    r"(?:(?:training|train|infer(?:ence)?|average|avg|mean|total|overall|global|aggregate|system|训练|推理|平均|总) ?)*"
)
_THROUGHPUT = r"(?:throughput|rate|speed|performance|perf|吞吐量|吞吐率|吞吐|速度|性能)"
_PER_GPU = "per (?:gpu|device|accelerator|card)"
_RATE = re.compile(
    rf"(?P<before>{_PER_GPU} )?{_WHICH}(?:{_THROUGHPUT} ?)?(?P<between>{_PER_GPU} )?"
    rf"(?P<what>[a-z]+|[\u4e00-\u9fff]+)(?P<within> {_PER_GPU})? per (?:{_TIME})(?P<behind> {_PER_GPU})?"
)
_PLAIN_RATE = re.compile(rf"{_WHICH}(?:throughput|吞吐量|吞吐率|吞吐)(?P<behind> {_PER_GPU})?")
_MEMORY = re.compile(
    r"(?:(?:system|host|instance|cpu) )?(?:ram|memory|mem|内存|内存大小)(?: size)?(?: (?P<unit>[kmgt]i?b))?", re.ASCII
)
_GPU_MEMORY = re.compile(
    r"(?:vram|(?:gpu|video|accelerator) (?:memory|mem|ram))(?: size)?(?: per gpu)?(?: [kmgt]i?b)?|显存|显存大小",
    re.ASCII,
)
_OF_THE_MACHINE = re.compile(r"\b(?:system|host|instance|cpu|ram)\b|内存")
_PRICE_WORDS = {
    "price": "price 价格 单价",
    "cost": "cost",
    "usd": "$ us$ usd dollar dollars 美元",
    "hour": "h hr hrs hour hours hourly 小时 每小时",
    "gpu": "gpu",
    "spot": "spot preemptible 竞价",
    "other": "per on demand ondemand instance list approx 按量",
}
_OF_ONE_GPU = re.compile(r"\bper gpu\b|\bgpu (?:h|hrs?|hours?)\b")
_PRICE_WORD = {word: kind for kind, words in _PRICE_WORDS.items() for word in words.split()}
_PIECES = {
    SECONDS_PER_EPOCH: "epoch",
    SECONDS_PER_BATCH: "batch|minibatch|step|iteration|iter|it",
    SECONDS_PER_SAMPLE: "|".join(names for unit, names in _SAMPLE_UNITS.items()),
}
_PIECE = "|".join(f"(?P<{column}>{names})" for column, names in _PIECES.items())
_DURATIONS = (
    re.compile(rf"{_WHICH}(?:{_TIME}|time) per (?:{_PIECE})"),
    re.compile(rf"{_WHICH}(?:{_PIECE}) (?:time|duration|seconds)(?: (?:{_TIME}))?"),
    re.compile(rf"{_WHICH}time per (?:{_PIECE}) (?:{_TIME})"),
)
_COUNTED_PIECES = {
    SECONDS_PER_EPOCH: "epochs?",
    SECONDS_PER_BATCH: "batch(?:es)?|minibatch(?:es)?|steps?|iterations?|iters?|its?",
}
_AVERAGE = r"(?:mean |avg |average |median )?"
_LATENCIES = (
    re.compile(rf"(?:{_AVERAGE}|(?P<p>p50|p99) )latency(?: (?:{_TIME}))?"),
    re.compile(rf"latency (?P<p>p50|p99|mean|avg|average|median)(?: (?:{_TIME}))?"),
    re.compile(rf"(?P<p>p50|p99) (?:{_TIME})"),
    re.compile(rf"(?:平均)?(?:延迟|时延)(?: (?:{_TIME}))?"),
)


def meaning(header: str) -> Meaning | None:
    """What a header means that is not a column of sizer by its own name; None where that is not known."""
    plain = _plain(header).replace("world size", "total processes")
    found = _meaning(plain)
    for of, form in _OF_NODES.items() if found is None else ():
        rest = " ".join(form.sub(" ", plain, count=1).split())
        own = "gpu_count" if rest in ("gpu", "accelerator", "processes") else rest.replace(" ", "_")
        means = None if rest == plain else Meaning(own) if own in OF_NODES else _meaning(rest)
        # The price of a whole job may be a total, too.
        if means is not None and means.column in OF_NODES and (of == "node" or not _PRICED.search(rest)):
            return replace(means, of=of)
    return found


def _meaning(plain: str) -> Meaning | None:
    if plain == "cpu":
        return Meaning("vcpus", if_numbers=True)
    if plain in _COLUMNS:
        return Meaning(_COLUMNS[plain], if_numbers=_COLUMNS[plain] == NODES)
    if plain in _RATES:
        return Meaning("throughput", unit="s", sample_unit=_RATES[plain])
    if _RELATIVE.fullmatch(plain):
        return Meaning("throughput", sample_unit=RELATIVE, derived=True)
    rate = _rate(plain)
    if rate is not None:
        return rate
    price = _price(plain)
    if price is not None:
        return price
    gpu_memory = _GPU_MEMORY.fullmatch(plain)
    if gpu_memory:
        return Meaning(GPU_MEMORY)
    memory = _MEMORY.fullmatch(plain)
    if memory:
        return Meaning("memory_gib", unit=(memory["unit"] or UNSAID).upper().replace("IB", "iB"))
    return _duration(plain) or _latency(plain)


def says_an_hour(header: str) -> bool:
    """Whether a price says that it is that of an hour."""
    return any(_PRICE_WORD.get(word) == "hour" for word in _plain(header).split())


def is_of_the_machine(header: str) -> bool:
    """Whether a column of memory says that it is the machine's and not that of its GPUs."""
    return _OF_THE_MACHINE.search(_plain(header)) is not None


def sample_unit(text: str) -> str | None:
    """`image` for `imgs`; None for a word that no sample is called by."""
    return next((unit for unit, names in _SAMPLE_UNITS.items() if re.fullmatch(names, text.lower())), None)


def time_unit(text: str) -> str | None:
    """`ms` for `milliseconds`; None for what is no unit of time."""
    return next((unit for unit, names in _TIMES.items() if re.fullmatch(names, text.lower())), None)


def spelt_alike(header: str, column: str) -> bool:
    """Whether a header is the name of a column but for spaces, hyphens and case: `Batch Size`."""
    return _plain(header) == _plain(column)


def _plain(header: str) -> str:
    """Words in lower case with one space between them; `/` is read as `per`, `#` as `num`."""
    text = unicodedata.normalize("NFKC", header).lower().replace("/", " per ").replace("#", " num ")
    words = " ".join(re.sub(r"[_\-()\[\]{},:;.*†‡§]", " ", text).split())
    return words.replace("num of ", "num ")


def _rate(plain: str) -> Meaning | None:
    """A rate in samples, or in batches or epochs, whose inverse is a time."""
    found = _RATE.fullmatch(plain)
    if found is None:
        alone = _PLAIN_RATE.fullmatch(plain)
        return Meaning("throughput", per_gpu=alone["behind"] is not None) if alone else None
    per_gpu = any(found[place] for place in ("before", "between", "within", "behind"))
    unit, what = _unit(found, "s"), found["what"]
    counted = sample_unit(what)
    if counted:
        return Meaning("throughput", unit=unit, sample_unit=counted, per_gpu=per_gpu)
    column = next((column for column, names in _COUNTED_PIECES.items() if re.fullmatch(names, what)), None)
    return Meaning(column, unit=unit, derived=True, inverse=True) if column and not per_gpu else None


def _price(plain: str) -> Meaning | None:
    """The price of an hour in USD, by its words; one in another currency, or of something else, is none."""
    words = plain.split()
    kinds = {_PRICE_WORD.get(word) for word in words}
    if None in kinds or not kinds & {"price", "cost", "usd"}:
        return None
    chinese = any(not word.isascii() for word in words)
    if "hour" not in kinds and ("price" not in kinds or chinese):
        return None
    if chinese and "usd" not in kinds:
        return None
    if "gpu" in kinds and ("hour" not in kinds or not _OF_ONE_GPU.search(plain)):
        # `GPU price` may be that of all of them, and `price per GPU` that of buying one.
        return None
    columns = (USD_PER_GPU_HOUR, USD_PER_GPU_HOUR_SPOT) if "gpu" in kinds else ("usd_per_hour", "usd_per_hour_spot")
    return Meaning(columns["spot" in kinds])


def _duration(plain: str) -> Meaning | None:
    for form in _DURATIONS:
        found = form.fullmatch(plain)
        if found:
            column = next(column for column in _PIECES if found[column])
            said = "s" if "seconds" in plain else UNSAID
            return Meaning(column, unit=_unit(found, said), derived=True)
    return None


def _latency(plain: str) -> Meaning | None:
    for form in _LATENCIES:
        found = form.fullmatch(plain)
        if found:
            return Meaning(
                "latency_p99_ms" if found.groupdict().get("p") == "p99" else LATENCY, unit=_unit(found, UNSAID)
            )
    return None


def _unit(found: re.Match[str], default: str) -> str:
    return next((unit for unit in _TIMES if found[unit]), default)
