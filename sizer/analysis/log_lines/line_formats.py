"""Programs that print a line each so many batches: which of its numbers counts, and which tells a time or a rate.

Groups are named as in a user's own expression. Where a line has both a counter and a time, the counter is what counts;
programs tell the time of their last batch, or the mean since their epoch began, and neither is that of these batches.
"""

from __future__ import annotations

import re

from sizer.analysis.log_lines.reading import LineFormat

NUMBER = r"\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"


def _line(expression: str) -> re.Pattern[str]:
    """An expression in which `#` is a whole number, `~` any number, a space any white space or none, and `...` a part
    of a line that is no longer than what any of these programs prints there."""
    text = expression.replace("#", r"\d+").replace("~", NUMBER).replace(" ", r"\s*").replace("...", r".{0,600}?")
    return re.compile(text)


LINE_FORMATS = (
    # iter 10: loss 3.1338, time 1972.52ms, mfu 0.19% (karpathy/nanoGPT, train.py)
    LineFormat(
        "nanogpt",
        ("loss ",),
        _line(r"\biter (?P<step>#): loss ...\btime (?P<milliseconds>~) ms"),
        _line(r"\bstep #: train loss \S+, val loss"),
    ),
    # Epoch: [0][ 10/5005]	Time  0.387 ( 0.412)	Data  0.010 ( 0.020) (pytorch/examples, imagenet/main.py)
    LineFormat(
        "pytorch_imagenet",
        ("Time",),
        _line(r"\bEpoch: \[(?P<epoch>#)\](?: \[#\])? \[ (?P<step>#)/(?P<total>#)\] Time:? (?P<seconds>~) \( ~ \)"),
        _line(r"\b(?:Test|Val)\w*(?:\[#\])?: (?:\[#\])? \[ #/#\] Time:? ~ \( ~ \)"),
    ),
    # | epoch   1 |   200/ 2983 batches | lr 20.00 | ms/batch 154.72 | (pytorch/examples, word_language_model/main.py)
    LineFormat(
        "pytorch_word_language_model",
        ("| e", "| E"),
        _line(r"\| epoch (?P<epoch>#) \| (?P<step>#)/ (?P<total>#) batches \|...\bms/batch (?P<milliseconds>~)"),
        _line(r"\| (?:end of epoch|End of training)\b"),
    ),
    # Epoch[0] Batch [20-40]	Speed: 1234.56 samples/sec (apache/mxnet, python/mxnet/callback.py); once: Batch [40];
    # without a metric: Iter[0] Batch [20]	Speed: 1234.56 samples/sec; GluonCV's scripts print [Epoch 0][Batch 49],
    # Speed: 1234.56 samples/sec, and some programs the speed alone
    LineFormat(
        "mxnet_speedometer",
        ("Speed:", "Validation-"),
        _line(
            r"(?:\b(?:Epoch|Iter)[^\w.]{0,2}(?P<epoch>#)[^\w.]{1,3}Batch[^\w.]{0,2}(?:#-)?(?P<step>#)[^\w.]{1,3})?"
            r"\bSpeed: (?P<rate>~) samples/sec"
        ),
        _line(r"\bEpoch\[#\] Validation-"),
    ),
    # 10	images/sec: 219.1 +/- 0.0 (jitter = 0.1)	8.137 (tensorflow/benchmarks, benchmark_cnn.py)
    LineFormat(
        "tf_cnn_benchmarks",
        ("/sec",),
        _line(r"(?:^|\D)(?P<step>#)\s+images/sec: (?P<rate>~) \+/-"),
        _line(r"(?:^|\D)#\s+~ examples/sec"),
    ),
    # solver.cpp:218] Iteration 40 (6.25 iter/s, 3.2s/20 iters), loss = 6.9 (BVLC/caffe, src/caffe/solver.cpp); older
    # ones print `Iteration 40, loss = 6.9`; the rate of the first line may be negative
    LineFormat(
        "caffe",
        ("Iteration ",),
        _line(r"\bIteration (?P<step>#)(?: \((?P<batches>~)? ?[^)]*\))?, loss ="),
        _line(r"\bIteration #, Testing net"),
    ),
    # Train: 0 [  50/1251 (  4%)]  Loss: 6.92 (6.93)  Time: 0.387s,  661.33/s  (huggingface/pytorch-image-models)
    LineFormat(
        "timm",
        ("Time:",),
        _line(r"\bTrain: (?P<epoch>#) \[ (?P<step>#)/(?P<total>#) \( ~%\)\]...\bTime: (?P<seconds>~) s, (?P<rate>~)/s"),
        _line(r"\bTest(?: \(\w+\))?: \[ #/#\] Time: ~ \("),
    ),
    # Epoch: [0]  [ 10/5005]  eta: 1:20:30  lr: 0.1  img/s: 340.1 ... time: 0.387 (pytorch/vision, references)
    LineFormat(
        "torchvision",
        ("eta:",),
        _line(
            r"\bEpoch: \[(?P<epoch>#)\] \[ (?P<step>#)/(?P<total>#)\] eta:...(?:\bimg/s: (?P<rate>~)...)?"
            r"\b(?<!_)time: (?P<seconds>~)"
        ),
        _line(r"\b(?:Test|Val)\w*: (?:\w+ )?\[ #/#\] eta:"),
    ),
    #  iteration 122/ 250000 | consumed samples: 124928 | elapsed time per iteration (ms): 86545.2 (NVIDIA/Megatron-LM)
    LineFormat(
        "megatron",
        ("iteration ",),
        _line(
            r"\biteration (?P<step>#)/ # \|(?:...\bconsumed samples: (?P<samples>#) \|)?"
            r"...\belapsed time per iteration \(ms\): (?P<milliseconds>~)"
        ),
        _line(r"\bvalidation loss at iteration #"),
    ),
    # epoch=0/micro_step=20/global_step=20, RunningAvgSamplesPerSec=16.1 (deepspeedai/DeepSpeed, utils/timer.py); once:
    # 0/40, SamplesPerSec=83.4
    LineFormat(
        "deepspeed",
        ("SamplesPerSec",),
        _line(
            r"(?:\bglobal_step=(?P<step>#), ...\bCurrSamplesPerSec=(?P<rate>~)"
            r"|\b#/(?P<done>#), (?:RunningAvg)?SamplesPerSec=~)"
        ),
    ),
    # | epoch 001:    450 / 1891 loss=11.521, ..., wps=52922, ups=0.5, ..., num_updates=445 (facebookresearch/fairseq)
    LineFormat(
        "fairseq",
        ("loss=", "train_inner", "valid"),
        _line(
            r"\bepoch (?P<epoch>#):? (?P<step>#) / (?P<total>#) \S*loss=|"
            r"\btrain_inner \| \{...\"wps\": \"~\"...\"num_updates\": \"(?P<done>#)\""
        ),
        _line(r"\bvalid on '\w+' subset|\bvalid \| "),
    ),
    # Epoch(train) [1][10/90]  lr: 1.000e-02  eta: 0:00:25  time: 0.010  data_time: 0.000 (open-mmlab/mmengine); its
    # forerunner printed `Epoch [1][10/35]	lr: 1.000e-02, eta: 0:10:35, time: 0.611, data_time: 0.212`
    LineFormat(
        "mmengine",
        ("time:", "(val", "(test"),
        _line(
            r"\b(?:Epoch|Iter)(?:\(train\))? (?:\[(?P<epoch>#)\] )?\[ (?P<step>#)/(?P<total>#)\]\s+"
            r"(?:base_)?lr: ...\b(?<!_)time: (?P<seconds>~)"
        ),
        _line(r"\b(?:Epoch|Iter)\((?:val|test)\)"),
    ),
    # Epoch[ 1 of 25]-Minibatch[   1-  10, 64.02%]: ... time = 0.2134s; samplesPerSecond = 11994.5 (microsoft/CNTK)
    LineFormat(
        "cntk",
        ("Minibatch[", "Finished "),
        _line(
            r"(?:\bEpoch\[ (?P<epoch>#) of #\]-)?\bMinibatch\[ #- (?P<step>#)(?:, ~%)?\]:"
            r"...\b[sS]amplesPerSecond = (?P<rate>~)"
        ),
        _line(r"\bFinished (?:Epoch|Evaluation)\b"),
    ),
    # Epoch 0   [Train |████ |  390/390  batches, 2.30 cost, 5.82s] (NervanaSystems/neon, neon/callbacks/callbacks.py)
    LineFormat(
        "neon",
        (" batches,",),
        _line(r"\bEpoch (?P<epoch>#) \[Train \|[^|]*\| (?P<done>#) / (?P<total>#) batches, ~ cost, (?P<elapsed>~) s\]"),
        _line(r"\bEpoch # \[(?:Valid|Test)\w* \|"),
    ),
    #  | Epoch: [1][20/5004]    Time 0.387  Data 0.010 (facebookarchive/fb.resnet.torch, train.lua); soumith/dcgan.torch
    # prints Epoch: [2][      45 /      237]	 Time: 0.127
    LineFormat(
        "torch",
        ("Time",),
        _line(r"\bEpoch: \[(?P<epoch>#)\] \[ (?P<step>#) / (?P<total>#)\] Time:? (?P<seconds>~)"),
        _line(r"\bTest: \[#\] \[ #/#\] Time:? ~"),
    ),
)
