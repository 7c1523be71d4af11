"""Real lines of each known format, in its variants: which format they are, and how many batches or samples they count.

Above each log stands where its lines were printed; a format's own source is named in `log_lines`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizer.analysis.log_lines.line_formats import LINE_FORMATS
from sizer.analysis.log_lines.recognising import BARS, LogLines
from sizer.analysis.log_rates import LogRates
from sizer.records.own_programs import KNOWN_LOGS
from tests import ROOT


@dataclass(frozen=True)
class Read:
    """What was read of a log: its format, what its counter grew by from line to line, and how many epochs began."""

    name: str | None
    grown: list[int]
    epochs: int


def read(text: str, pattern: str | None = None) -> Read:
    """A log as a run reads it."""
    lines = LogLines(pattern)
    found = [told for line in text.replace("\r", "\n").split("\n") if (told := lines.read(line)) is not None]
    return Read(lines.recognised, [each.grown for each in found if each.grown], found[-1].epoch if found else 0)


# https://github.com/karpathy/nanoGPT/issues/215: an evaluation and a checkpoint between, losses that are none, and a
# time of day before each line
NANOGPT = """\
2023-03-22 09:31:45 iter 2980: loss 3.8993, time 1099.18ms, mfu 15.34%
2023-03-22 09:31:56 iter 2990: loss 3.8853, time 1096.65ms, mfu 15.34%
2023-03-22 09:32:32 step 3000: train loss 4.0390, val loss 4.0427
saving checkpoint to out
2023-03-22 09:32:41 iter 3000: loss 4.2490, time 35392.33ms, mfu 13.85%
2023-03-22 09:32:52 iter 3010: loss nan, time 1019.95ms, mfu 14.12%
"""

# karpathy/nanoGPT, train.py (e2221318e607eb5ee0669d6b7641af25a2111545), the first lines of a run on a CPU
NANOGPT_FIRST = """\
step 0: train loss 4.2874, val loss 4.2823
iter 0: loss 4.2655, time 119975.84ms, mfu -100.00%
iter 10: loss 3.1338, time 1972.52ms, mfu 0.19%
iter 20: loss 2.7556, time 1962.79ms, mfu 0.19%
"""

# https://github.com/karpathy/nanoGPT/issues/110: an older version, on eight GPUs, of which one process prints
NANOGPT_OLD = """\
iter 1631: loss 4.0863, time 561.94ms
iter 1632: loss 3.7441, time 563.15ms
"""

# https://github.com/pytorch/examples/pull/551: the first line of an epoch and of an evaluation, and, as that proposal
# prints them, of two processes
IMAGENET_RANKS = """\
Use GPU: 1 for training
Epoch: [0][0][   0/5005]        Time 20.770 (20.770)    Data 11.1 (11.1)
Epoch: [0][1][   0/5005]        Time 20.771 (20.771)    Data 11.1 (11.1)
Epoch: [0][0][  10/5005]        Time  0.387 ( 2.241)    Data  0.0 ( 1.0)
Epoch: [0][1][  10/5005]        Time  0.388 ( 2.241)    Data  0.0 ( 1.0)
Test[0]: [  0/391]      Time  7.295 ( 7.295)
"""

# https://github.com/pytorch/examples/pull/1032: every process prints; then all of them evaluate
IMAGENET_LAST = """\
Epoch: [0][620/626]     Time  3.895 ( 3.075)    Data  2.053 ( 2.954)    Loss 4.4438e+00 (5.4188e+00)
Epoch: [0][620/626]     Time  3.892 ( 3.075)    Data  2.063 ( 1.639)    Loss 4.3967e+00 (5.4165e+00)
Epoch: [0][626/626]     Time  3.895 ( 3.075)    Data  2.053 ( 2.954)    Loss 4.4438e+00 (5.4188e+00)
Epoch: [0][626/626]     Time  3.892 ( 3.075)    Data  2.063 ( 1.639)    Loss 4.3967e+00 (5.4165e+00)
Test: [ 1/25]   Time  6.812 ( 6.812)    Loss 4.5951e+00 (4.5951e+00)    Acc@1  18.75 ( 18.75)   Acc@5  33.98 ( 33.98)
Test: [ 1/25]   Time  7.230 ( 7.230)    Loss 4.3132e+00 (4.3132e+00)    Acc@1  18.36 ( 18.36)   Acc@5  38.28 ( 38.28)
Epoch: [1][  1/626]     Time 11.227 (11.227)    Data 10.1 (10.1)        Loss 4.3881e+00 (4.3881e+00)
"""

# https://github.com/Cadene/pretrained-models.pytorch/issues/149: an evaluation alone, by the same example
IMAGENET_EVALUATION = """\
Test: [1460/2500]       Time 0.036 (0.039)      Loss 2.6388 (0.9189)    Acc@1 45.000 (76.451)   Acc@5 55.000 (93.474)
Test: [1470/2500]       Time 0.036 (0.039)      Loss 1.0036 (0.9248)    Acc@1 85.000 (76.360)   Acc@5 90.000 (93.402)
"""

# pytorch/examples, word_language_model/main.py (0f4dca7dc202798f545ca7c006c91956cb584f43), its last lines, and the
# first ones of a next epoch
WORDS = """\
| epoch   6 |  2600/ 2983 batches | lr 5.00 | ms/batch 13.81 | loss  4.87 | ppl   130.35
| epoch   6 |  2800/ 2983 batches | lr 5.00 | ms/batch 13.94 | loss  4.81 | ppl   123.03
-----------------------------------------------------------------------------------------
| end of epoch   6 | time: 45.16s | valid loss  5.36 | valid ppl   212.05
-----------------------------------------------------------------------------------------
| epoch   7 |   200/ 2983 batches | lr 5.00 | ms/batch 13.94 | loss  4.81 | ppl   123.03
=========================================================================================
| End of training | test loss  5.26 | test ppl   192.94
"""

# https://github.com/apache/mxnet/issues/15962: an older Speedometer, with the end of an epoch
SPEEDOMETER_OLD = """\
2019-08-21 14:56:54,971 INFO Epoch[101] Batch [300]\tSpeed: 584.65 samples/sec\taccuracy=1.000000
2019-08-21 14:57:05,945 INFO Epoch[101] Batch [350]\tSpeed: 583.26 samples/sec\taccuracy=1.000000
2019-08-21 14:57:14,472 INFO Epoch[101] Train-accuracy=1.000000
2019-08-21 14:57:14,472 INFO Epoch[101] Time cost=85.508
2019-08-21 14:57:18,638 INFO Epoch[101] Validation-accuracy=0.808193
2019-08-21 14:57:29,825 INFO Epoch[102] Batch [50]\tSpeed: 580.51 samples/sec\taccuracy=1.000000
2019-08-21 14:57:40,758 INFO Epoch[102] Batch [100]\tSpeed: 585.36 samples/sec\taccuracy=1.000000
"""

# apache/mxnet, python/mxnet/callback.py (ae654ba4c7e2d7890772bdf449b7b00482396b68), as MXNet 1.5 prints it
SPEEDOMETER = """\
INFO:root:Epoch[0] Batch [0-20]\tSpeed: 520.85 samples/sec\tacc=0.572545\tMAE=10.734747\tCUM_5=0.240699
INFO:root:Epoch[0] Batch [20-40]\tSpeed: 518.95 samples/sec\tacc=0.589844\tMAE=9.351172\tCUM_5=0.289844
INFO:root:Epoch[0] Batch [40-60]\tSpeed: 516.86 samples/sec\tacc=0.603125\tMAE=9.184766\tCUM_5=0.303906
"""

# dmlc/gluon-cv, scripts/detection/ssd/train_ssd.py, as its tutorial prints it
GLUON_CV = """\
INFO:root:[Epoch 0][Batch 49], Speed: 58.105 samples/sec, CrossEntropy=1.190, SmoothL1=0.688
INFO:root:[Epoch 0][Batch 99], Speed: 58.683 samples/sec, CrossEntropy=0.693, SmoothL1=0.536
"""

# https://github.com/tensorflow/benchmarks/issues/285: the first steps, whose distance is another one
TF_CNN = """\
Step    Img/sec total_loss
1       images/sec: 13460.9 +/- 0.0 (jitter = 0.0)      7.232
10      images/sec: 12751.3 +/- 181.5 (jitter = 603.1)  7.215
20      images/sec: 12595.4 +/- 158.3 (jitter = 865.3)  7.202
----------------------------------------------------------------
total images/sec: 12622.00
"""

# https://github.com/horovod/horovod/issues/466: every process prints
TF_CNN_RANKS = "".join(
    f"{step}\timages/sec: 46.7 +/- 0.4 (jitter = 1.8)\t8.7{rank}4\n" for step in (60, 70, 80) for rank in range(4)
)

# https://github.com/libornovax/master_thesis_code/issues/50
CAFFE = """\
I1109 10:34:34.280992  9709 solver.cpp:219] Iteration 360 (0.170469 iter/s, 58.6617s/10 iters), loss = 0.0140731
I1109 10:34:34.281066  9709 solver.cpp:238]     Train net output #0: loss_x16 = 0.00191901 (* 1 = 0.00191901 loss)
I1109 10:34:34.281081  9709 sgd_solver.cpp:105] Iteration 360, lr = 7.8125e-07
I1109 10:35:32.961859  9709 solver.cpp:219] Iteration 370 (0.170412 iter/s, 58.6813s/10 iters), loss = 0.0196515
I1109 10:35:32.961997  9709 sgd_solver.cpp:105] Iteration 370, lr = 7.8125e-07
"""

# https://github.com/Tonyfy/LCNN_TRAIN/issues/11 and https://github.com/BVLC/caffe/issues/361: older versions
CAFFE_OLD = """\
I0914 09:42:56.544800  6584 solver.cpp:228] Iteration 1859800, loss = 0.354224
I0914 09:42:56.544800  6584 sgd_solver.cpp:106] Iteration 1859800, lr = 0.000173942
I0914 09:43:03.003799  6584 solver.cpp:228] Iteration 1859900, loss = 0.262504
"""
CAFFE_NAN = """\
I0425 10:13:04.672341  9167 solver.cpp:208] Iteration 200, lr = 0.01
I0425 10:13:04.672637  9167 solver.cpp:65] Iteration 200, loss = 6.55622
I0425 10:13:21.205826  9167 solver.cpp:208] Iteration 220, lr = 0.01
I0425 10:13:21.206111  9167 solver.cpp:65] Iteration 220, loss = nan
"""

# BVLC/caffe, src/caffe/solver.cpp (89ba6e40d1bf95b3ee3f3350361fc44b46c1b2e1): a first iteration, whose time is that of
# a clock that had not begun, and a test
CAFFE_FIRST = """\
I0101 10:00:00.000000 12 solver.cpp:330] Iteration 0, Testing net (#0)
I0101 10:00:01.000000 12 solver.cpp:218] Iteration 0 (-4.20390e-45 iter/s, 0.5s/20 iters), loss = 6.9
I0101 10:00:04.200000 12 solver.cpp:218] Iteration 20 (6.25 iter/s, 3.2s/20 iters), loss = 6.9
"""

# huggingface/pytorch-image-models, train.py (004fb5f8c42075d5fa19a2b84eeed72f73c7f331), with its evaluations
TIMM = """\
Train: 1 [4950/5004 ( 99%)]  Loss:  5.085654 (5.7736)  Time: 0.449s,  569.84/s  (0.474s,  540.03/s)  LR: 5.334e-03
Train: 1 [5000/5004 (100%)]  Loss:  5.085654 (5.7736)  Time: 0.449s,  569.84/s  (0.474s,  540.03/s)  LR: 5.334e-03
Train: 1 [5003/5004 (100%)]  Loss:  4.989123 (5.7659)  Time: 0.431s,  594.42/s  (0.474s,  540.05/s)  LR: 5.334e-03
Test: [   0/195]  Time: 2.276 (2.276)  Loss:  3.5284 (3.5284)  Acc@1: 28.9062 (28.9062)  Acc@5: 60.5469 (60.5469)
Test: [  50/195]  Time: 0.079 (0.286)  Loss:  3.2546 (3.5687)  Acc@1: 22.2656 (23.7745)  Acc@5: 55.4688 (50.3830)
Test (EMA): [   0/195]  Time: 1.724 (1.724)  Loss:  6.8950 (6.8950)  Acc@1:  0.0000 ( 0.0000)  Acc@5:  0.0 ( 0.0)
Train: 2 [   0/5004 (  0%)]  Loss:  5.015893 (5.0159)  Time: 3.130s,   81.79/s  (3.130s,   81.79/s)  LR: 1.067e-02
Train: 2 [  50/5004 (  1%)]  Loss:  5.053020 (5.0345)  Time: 0.499s,  513.25/s  (0.636s,  402.40/s)  LR: 1.067e-02
"""

# https://github.com/fangwei123456/Spike-Element-Wise-ResNet/issues/10 (pytorch/vision's references of 2020)
TORCHVISION = """\
Epoch: [0]  [ 103/5005]  eta: 4:43:31  lr: 0.1  img/s: 13.62830983555788  loss: 6.8536 (6.9458)  time: 2.5401  data:
Epoch: [0]  [ 104/5005]  eta: 4:47:43  lr: 0.1  img/s: 3.5788954758177014  loss: 6.8593 (6.9466)  time: 2.8689  data:
"""

# pytorch/vision, references/detection/utils.py: without img/s, with an evaluation that has times of its own
TORCHVISION_DETECTION = """\
Epoch: [0]  [1200/1225]  eta: 0:00:15  lr: 0.005000  loss: 0.2440 (0.3281)  time: 0.6108  data: 0.0086  max mem: 4314
Epoch: [0]  [1224/1225]  eta: 0:00:00  lr: 0.005000  loss: 0.2440 (0.3281)  time: 0.6164  data: 0.0076  max mem: 4314
Epoch: [0] Total time: 0:12:44 (0.6240 s / it)
Test:  [  0/307]  eta: 0:02:16  model_time: 0.2611 (0.2611)  evaluator_time: 0.0126 (0.0126)  time: 0.4431  data: 0.1613
Test:  [100/307]  eta: 0:01:00  model_time: 0.2534 (0.2699)  evaluator_time: 0.0052 (0.0063)  time: 0.2939  data: 0.0090
Epoch: [1]  [   0/1225]  eta: 0:13:15  lr: 0.005000  loss: 0.2440 (0.3281)  time: 0.6108  data: 0.0086  max mem: 4314
"""

# https://github.com/epfLLM/Megatron-LLM/issues/11
MEGATRON = """\
 iteration      122/  250000 | consumed samples:       124928 | elapsed time per iteration (ms): 86545.2 | learning rate: 9.150E-06 | global batch size:  1024 | lm loss: 2.504220E+00 |
 iteration      123/  250000 | consumed samples:       125952 | elapsed time per iteration (ms): 87871.6 | learning rate: 9.225E-06 | global batch size:  1024 | lm loss: 2.493043E+00 |
 validation loss at iteration 123 | lm loss value: 2.493043E+00 | lm loss PPL: 1.2E+01 |
"""  # noqa: E501

# https://github.com/deepspeedai/DeepSpeed/issues/5779 and 1825: this format, and an older one beside a step's own line
DEEPSPEED = """\
[2024-07-17 19:53:23,981] [INFO] [timer.py:258:stop] epoch=0/micro_step=4490/global_step=4490, RunningAvgSamplesPerSec=16.124955167964504, CurrSamplesPerSec=16.807402094161112, MemAllocated=0.02GB, MaxMemAllocated=0.97GB
[2024-07-17 19:53:24,981] [INFO] [timer.py:258:stop] epoch=0/micro_step=4500/global_step=4500, RunningAvgSamplesPerSec=16.124955167964504, CurrSamplesPerSec=16.807402094161112, MemAllocated=0.02GB, MaxMemAllocated=0.97GB
"""  # noqa: E501
DEEPSPEED_OLD = """\
[2022-03-11 02:06:58,985] [INFO] [logging.py:69:log_dist] [Rank 0] step=40, skipped=2, lr=[5e-05], mom=[[0.9, 0.999]]
[2022-03-11 02:06:58,985] [INFO] [timer.py:189:stop] 0/40, SamplesPerSec=83.48609168106144, MemAllocated=0.26GB
[2022-03-11 02:07:14,130] [INFO] [logging.py:69:log_dist] [Rank 0] step=50, skipped=2, lr=[5e-05], mom=[[0.9, 0.999]]
[2022-03-11 02:07:14,130] [INFO] [timer.py:189:stop] 0/50, SamplesPerSec=83.73838805358588, MemAllocated=0.26GB
"""

# https://github.com/facebookresearch/fairseq/issues/940, 301 and 2493: three versions, each with its validation
FAIRSEQ = """\
| epoch 001:    550 / 1891 loss=11.186, nll_loss=10.481, ppl=1440.01, wps=53627, ups=0.5, wpb=104800, num_updates=545
| epoch 001:    600 / 1891 loss=11.039, nll_loss=10.320, ppl=1278.29, wps=53936, ups=0.5, wpb=104812, num_updates=595
| epoch 001 | valid on 'valid' subset | valid_loss 8.11425 | valid_nll_loss 6.8834 | valid_ppl 118.06 | num_updates 600
| epoch 001:    650 / 1891 loss=10.902, nll_loss=10.160, ppl=1144.39, wps=53573, ups=0.5, wpb=104904, num_updates=645
"""
FAIRSEQ_OLD = """\
| epoch 010  7000 / 8223 loss=1.27 (1.50), wps=962, wpb=908, bsz=32, lr=0.001, clip=100%, gnorm=2.1427
| epoch 010  8000 / 8223 loss=1.28 (1.49), wps=962, wpb=908, bsz=32, lr=0.001, clip=100%, gnorm=2.1507
| epoch 010 | train loss 1.44 | train ppl 2.72 | s/checkpoint    7747 | words/s    961 | words/batch    906 | bsz    32
| epoch 010 | valid on 'valid' subset  1000 / 1311 loss=1.60
| epoch 010 | valid on 'valid' subset | valid loss 1.94 | valid ppl 3.83
| epoch 011  1000 / 8223 loss=1.89 (1.38), wps=963, wpb=918, bsz=32, lr=0.001, clip=100%, gnorm=2.0860
"""
FAIRSEQ_JSON = """\
2021-01-05 22:41:34 | INFO | train_inner | {"epoch": 46, "update": 45.419, "loss": "609.299", "wps": "2270.8", "ups": "0.24", "wpb": "9393.3", "num_updates": "1400", "lr": "5e-05"}
2021-01-05 22:42:30 | INFO | train | {"epoch": 46, "train_loss": "569.018", "train_wps": "2926.8", "train_num_updates": "1418", "train_lr": "5e-05"}
2021-01-05 22:42:34 | INFO | train_inner | {"epoch": 47, "update": 46.419, "loss": "609.299", "wps": "2270.8", "ups": "0.24", "wpb": "9393.3", "num_updates": "1430", "lr": "5e-05"}
"""  # noqa: E501

# https://github.com/open-mmlab/mmengine/pull/155 and issues/1155; https://github.com/AILab-CVC/YOLO-World/issues/396
MMENGINE = """\
04/21 21:03:53 - mmengine - INFO - Epoch(train) [1][80/90]  lr: 1.000e-02  eta: 0:00:03  time: 0.003  data_time: 0.000
04/21 21:03:53 - mmengine - INFO - Epoch(train) [1][90/90]  lr: 1.000e-02  eta: 0:00:03  time: 0.003  data_time: 0.000
2024/06/16 20:02:03 - mmengine - INFO - Epoch(val) [1][4000/4809]    eta: 0:06:54  time: 0.5256  data_time: 0.0006
2024/06/16 20:02:28 - mmengine - INFO - Epoch(val) [1][4050/4809]    eta: 0:06:29  time: 0.5140  data_time: 0.0006
2023/05/19 13:42:07 - mmengine - INFO - Epoch(train) [2][10/90]  lr: 1.0000e-03  eta: 0:00:05  time: 0.0410
"""

# https://github.com/open-mmlab/mmpretrain/issues/360: its forerunner, with a bar of the validation
MMCLS = """\
2021-07-14 13:52:30,150 - mmcls - INFO - Epoch [1][20/35]\tlr: 1.000e-02, eta: 0:08:41, time: 0.402, data_time: 0.022
2021-07-14 13:52:34,172 - mmcls - INFO - Epoch [1][30/35]\tlr: 1.000e-02, eta: 0:08:00, time: 0.402, data_time: 0.022
2021-07-14 13:52:35,974 - mmcls - INFO - Saving checkpoint at 1 epochs
[>>>>>>>>>>>>>>] 50/50, 163.1 task/s, elapsed: 0s, ETA:     0s2021-07-14 13:52:36,901 - mmcls - INFO - Epoch(val) [1][2]
2021-07-14 13:52:43,027 - mmcls - INFO - Epoch [2][10/35]\tlr: 1.000e-02, eta: 0:07:28, time: 0.592, data_time: 0.213
"""

# https://github.com/microsoft/CNTK/issues/854 and 194: with and without a share of the epoch
CNTK = """\
Starting minibatch loop.
 Epoch[ 1 of 25]-Minibatch[   1-  10]: MeanSqErr.MSE = 851.39990234 * 2560; time = 0.2134s; samplesPerSecond = 11994.5
 Epoch[ 1 of 25]-Minibatch[  11-  20]: MeanSqErr.MSE = 804.69541016 * 2560; time = 0.2097s; samplesPerSecond = 12206.9
 Epoch[ 1 of 25]-Minibatch[  21-  30, 0.52%]: MeanSqErr.MSE = 785.0 * 2560; time = 0.2091s; samplesPerSecond = 12243.1
Finished Epoch[ 1 of 25]: [Training] MeanSqErr.MSE = 155.27413646 * 1124823; totalSamplesSeen = 0
"""
CNTK_OLD = """\
 Epoch[ 2 of 4]-Minibatch[   1-  10, 0.0000003%]: SamplesSeen = 160; TotalTime = 1.1168s; SamplesPerSecond = 143.3
 Epoch[ 2 of 4]-Minibatch[  11-  20, 0.0000007%]: SamplesSeen = 160; TotalTime = 1.0686s; SamplesPerSecond = 149.7
"""

# NervanaSystems/neon, neon/callbacks/callbacks.py (0841d519fce0af60213427670ceee7f502ca1fa0): over carriage returns
NEON = (
    "\rEpoch 0   [Train |███                 |   60/390  batches, 2.30 cost, 0.91s]"
    "\rEpoch 0   [Train |███████████████████ |  388/390  batches, 2.10 cost, 5.80s]"
    "\rEpoch 0   [Train |████████████████████|  390/390  batches, 2.10 cost, 5.82s][Validation 2.05 cost, 0.40s]\n"
    "\rEpoch 1   [Train |                    |    7/390  batches, 2.00 cost, 0.11s]"
    "\rEpoch 1   [Train |█                   |   27/390  batches, 1.90 cost, 0.41s]\n"
)

# facebookarchive/fb.resnet.torch, train.lua (19d7dea4e8bf54257d94ac11f2c1feda3fc6a7b8)
TORCH = """\
=> Training epoch # 1
 | Epoch: [1][5003/5004]    Time 0.387  Data 0.003  Err 6.9051  top1  99.609  top5  98.828
 | Epoch: [1][5004/5004]    Time 0.385  Data 0.003  Err 6.8850  top1  99.609  top5  98.438
 | Test: [1][1/196]    Time 0.925  Data 0.710  top1  98.828 ( 98.828)  top5  94.922 ( 94.922)
 | Test: [1][2/196]    Time 0.125  Data 0.010  top1  98.828 ( 98.828)  top5  94.922 ( 94.922)
 * Finished epoch # 1     top1:  98.828  top5:  94.922
 | Epoch: [2][1/5004]    Time 0.387  Data 0.003  Err 6.9051  top1  99.609  top5  98.828
"""

# soumith/imagenet-multiGPU.torch, train.lua (1028e25fa0e9cd76d6f0b0613a9536a0d7f6a945), and a program made of it
TORCH_MULTI = """\
Epoch: [1][1/2000] Time: 66.197, Err: 0.170      PCK: 87.50,    PixelAcc: 68.36, LR: 1e-03,      DataLoadingTime 192.286
Epoch: [1][2/2000] Time: 1.240, Err: 0.472      PCK: 87.50,    PixelAcc: 21.38, LR: 1e-03,      DataLoadingTime 0.237
Epoch: [1][3/2000]\tTime 1.040 Err 0.3180 Top1-%: 0.00 LR 1e-03 DataLoadingTime 0.570
"""

# keras-team/keras, keras/src/utils/progbar.py (015af23047f9933534b7e0e3281a945ecc6e25a4): what Keras 3.15 writes into a
# pipe, with colours and backspaces, in two epochs of five; then an evaluation
KERAS_3 = "".join(
    f"Epoch {epoch}/2\n"
    + "".join(
        f"\r\x1b[1m{step}/5\x1b[0m \x1b[32m{'━' * 4 * step}\x1b[0m\x1b[37m{'━' * (20 - 4 * step)}\x1b[0m "
        f"\x1b[1m0s\x1b[0m 110ms/step - loss: 0.5000" + "\b" * 53
        for step in range(1, 6)
    )
    + "\n"
    for epoch in (1, 2)
) + (
    "\r\x1b[1m1/3\x1b[0m \x1b[32m━━━━━━\x1b[0m\x1b[37m━━━━━━━━━━━━━━\x1b[0m \x1b[1m0s\x1b[0m 20ms/step"
    "\r3/3 ━━━━ 0s 2ms/step\n"
)

# The same program with a data set whose length it does not know in its first epoch
KERAS_UNKNOWN = (
    "Epoch 1/2\n" + "".join(f"\r      {step}/Unknown \x1b[1m1s\x1b[0m 110ms/step\b\b\b" for step in (1, 2, 4)) + "\n"
)

# https://github.com/matterport/Mask_RCNN/issues/2253, and lines of Keras 2 in the form of that time; after the last
# epoch, an evaluation
KERAS_2 = """\
Epoch 1/100
 820/1000 [=======================>......] - ETA: 3:36 - loss: 1.0181
 821/1000 [=======================>......] - ETA: 3:35 - loss: 1.0181
1000/1000 [==============================] - 1199s 1s/step - loss: 1.0100 - val_loss: 1.2
313/313 [==============================] - 1s 2ms/step - loss: 0.7025 - accuracy: 0.7602
"""

# https://github.com/keras-team/keras/pull/8169: Keras before TensorFlow 2.0 counts samples and says step
KERAS_SAMPLES = """\
Train on 60000 samples, validate on 10000 samples
Epoch 1/12
59904/60000 [============================>.] - ETA: 0s - loss: 0.3437 - acc: 0.8957
60000/60000 [==============================] - 5s 87us/step - loss: 0.3437 - acc: 0.8957 - val_loss: 0.1101
Epoch 2/12
  128/60000 [..............................] - ETA: 3s - loss: 0.0952 - acc: 0.9743
29312/60000 [=============>................] - ETA: 2s - loss: 0.0891 - acc: 0.9733
"""

# TensorFlow 2 and Keras 3 with verbose=2: a line an epoch
KERAS_VERBOSE_2 = """\
Epoch 1/3
98/98 - 4s - loss: 1.5412 - accuracy: 0.4101 - 4s/epoch - 41ms/step
Epoch 2/3
98/98 - 4s - 41ms/step - accuracy: 0.5101 - loss: 1.3412
Epoch 3/3
98/98 - 4s - 41ms/step - accuracy: 0.5401 - loss: 1.2412
"""

# tqdm 4.70 (tqdm/tqdm, tqdm/std.py, 5dcab08071690868fd6289948d9e3451098478d3): a bar of the epochs, and in each one of
# six batches and one of three to validate, which are cleared at their end
TQDM_NESTED = "\repochs:   0%|          | 0/2 [00:00<?, ?it/s]\n" + "".join(
    "\r  0%|          | 0/6 [00:00<?, ?it/s]\x1b[A\n"
    + "".join(f"\r {17 * n}%|█▋        | {n}/6 [00:00<00:00,  9.06it/s]\x1b[A\n" for n in range(1, 7))
    + "\r                                             \x1b[A\n"
    + "\rvalid:   0%|          | 0/3 [00:00<?, ?it/s]\x1b[A\n"
    + "".join(f"\rvalid:  {33 * n}%|███▎      | {n}/3 [00:00<00:00,  9.08it/s]\x1b[A\n" for n in range(1, 3))
    + "\r                                                    \x1b[A"
    + f"\repochs:  50%|█████     | {epoch}/2 [00:01<00:00,  1.00s/it]\n"
    for epoch in (1, 2)
)

# The same version, of a loop whose length it does not know, and one of `unit="batch"` that takes seconds
TQDM_NO_TOTAL = "\r0it [00:00, ?it/s]\r1it [00:00,  3.33it/s]\r3it [00:00,  3.33it/s]\r4it [00:01,  3.33it/s]\n"
TQDM_SLOW = (
    "\r  0%|          | 0/3 [00:00<?, ?batch/s]\r 33%|███▎      | 1/3 [00:01<00:02,  1.20s/batch]"
    "\r 67%|██████▋   | 2/3 [00:02<00:01,  1.20s/batch]\r100%|██████████| 3/3 [00:03<00:00,  1.20s/batch]\n"
)

# Bars of huggingface_hub and datasets before those of a training without a description
TQDM_AFTER_DATA = """\
config.json: 100%|██████████| 570/570 [00:00<00:00, 3.14MB/s]
Map: 100%|██████████| 1000/1000 [00:00<00:00, 5312.22 examples/s]
 10%|█         | 10/100 [00:01<00:09, 10.0it/s]
 20%|██        | 20/100 [00:02<00:08, 10.0it/s]
"""

# Two bars without a description: the first of 50 files, then a training that goes on for longer
TQDM_FIRST_OTHER = "".join(
    f"{2 * n}%|█ | {n}/50 [00:0{n // 25}<00:01, 25.0it/s]\n" for n in range(0, 51, 25)
) + "".join(f"{n}%|█ | {n}/400 [00:{n // 10:02}<01:00, 10.0it/s]\n" for n in range(0, 100, 10))

# https://github.com/Lightning-AI/pytorch-lightning/issues/14094: Lightning before 2.0 counts validation batches in the
# epoch's bar
LIGHTNING_1 = """\
Sanity Checking DataLoader 0: 100%|██████████| 2/2 [00:00<00:00,  2.76it/s]
Epoch 0:  84%|██████████▉   | 858/1016 [00:31<00:05, 27.70it/s, loss=0.223, v_num=77, acc=0.875]
Epoch 0:  85%|██████████▉   | 859/1016 [00:31<00:05, 27.70it/s, loss=0.223, v_num=77, acc=0.875]
Validation DataLoader 0:  46%|██████████████████████████                              | 73/157 [00:02<00:02, 37.48it/s]
Epoch 0:  92%|█████████████████████████████████▉   | 932/1016 [00:33<00:03, 27.70it/s, loss=0.223, v_num=77, acc=0.875]
Validation DataLoader 0:  50%|███████████████████████████▉                            | 78/157 [00:02<00:02, 38.79it/s]
Epoch 0:  92%|█████████████████████████████████▉   | 937/1016 [00:33<00:03, 27.70it/s, loss=0.223, v_num=77, acc=0.875]
Validation DataLoader 0: 100%|████████████████████████████████████████████████████████| 157/157 [00:04<00:00, 38.8it/s]
Epoch 1:   0%|                                         | 0/1016 [00:00<?, ?it/s, loss=0.223, v_num=77, acc=0.875]
Epoch 1:   0%|                                         | 1/1016 [00:00<00:30, 27it/s, loss=0.223, v_num=77, acc=0.875]
"""

# https://github.com/intelligent-machine-learning/dlrover/pull/564: two processes print the same bar
LIGHTNING_RANKS = """\
Sanity Checking DataLoader 0: 100%|██████████| 2/2 [00:00<00:00,  2.74it/s]
Training: 0it [00:00, ?it/s]
Training:   0%|          | 0/62733 [00:00<?, ?it/s]
Epoch 0:   0%|          | 0/62733 [00:00<?, ?it/s]
Epoch 0:   0%|          | 0/62733 [00:00<?, ?it/s]
Epoch 0:   0%|          | 1/62733 [00:00<2:37:08,  6.65it/s]
Epoch 0:   0%|          | 1/62733 [00:00<2:37:40,  6.63it/s, v_num=31]
Epoch 0:   0%|          | 2/62733 [00:00<1:27:16, 11.98it/s, v_num=31]
Epoch 0:   0%|          | 2/62733 [00:00<1:27:36, 11.93it/s, v_num=31]
"""

# https://github.com/Lightning-AI/pytorch-lightning/issues/4225: seconds a batch
LIGHTNING_SLOW = """\
Training: 0it [00:00, ?it/s]
Training:   0%|          | 0/18 [00:00<?, ?it/s]
Epoch 0:   0%|          | 0/18 [00:00<?, ?it/s]
Epoch 0:   6%|▌         | 1/18 [00:08<02:29,  8.77s/it]
Epoch 0:   6%|▌         | 1/18 [00:08<02:29,  8.77s/it, loss=10.473, v_num=193315]
Epoch 0:  11%|█         | 2/18 [00:11<01:33,  5.82s/it, loss=10.473, v_num=193315]
"""

# https://github.com/aws-samples/sagemaker-distributed-training-workshop/issues/6: no bar between share and counter
LIGHTNING_NARROW = """\
[1,mpirank:0,algo-1]<stdout>:Epoch 0:   0% 0/2 [00:00<?, ?it/s]
[1,mpirank:0,algo-1]<stdout>:Epoch 0:  50% 1/2 [00:00<00:00,  6.54it/s, loss=2.29, v_num=0]
[1,mpirank:0,algo-1]<stdout>:Validation DataLoader 0:   0% 0/1 [00:00<?, ?it/s]\x1b[A
[1,mpirank:0,algo-1]<stdout>:Validation DataLoader 0: 100% 1/1 [00:00<00:00, 1113.73it/s]\x1b[A
[1,mpirank:0,algo-1]<stdout>:Epoch 0: 100% 2/2 [00:00<00:00, 12.05it/s, loss=2.29, v_num=0, val_acc=0.166]
[1,mpirank:0,algo-1]<stdout>:Epoch 0:   0% 0/2 [00:00<?, ?it/s, loss=2.29, v_num=0, val_acc=0.166]
[1,mpirank:0,algo-1]<stdout>:Epoch 1:   0% 0/2 [00:00<?, ?it/s, loss=2.29, v_num=0, val_acc=0.166]
[1,mpirank:0,algo-1]<stdout>:Epoch 1:  50% 1/2 [00:00<00:00, 35.14it/s, loss=2.29, v_num=0, val_acc=0.166]
"""

# A log of huggingface/transformers' Trainer (src/transformers/trainer_callback.py,
# 55093b758b338fdc7903e778509523d755ae080d): an evaluation has a bar without a name, too
TRAINER = """\
  0%|          | 0/1000 [00:00<?, ?it/s]INFO:root:num_workers = 1, worker_id = 0, rank = 0, world_size=1
  1%|          | 10/1000 [00:02<03:38,  4.54it/s]INFO:root:num_workers = 1, worker_id = 0, rank = 0, world_size=1
{'loss': 2.1787, 'grad_norm': 10.88424301147461, 'learning_rate': 0.000991, 'epoch': 1.0}
  2%|▏         | 20/1000 [00:04<03:34,  4.56it/s]INFO:root:num_workers = 1, worker_id = 0, rank = 0, world_size=1
  0%|          | 0/10 [00:00<?, ?it/s]\x1b[A
 50%|█████     | 5/10 [00:00<00:00, 45.28it/s]\x1b[A
                                               \x1b[A{'eval_loss': 0.69, 'eval_runtime': 0.7, 'epoch': 2.0}
100%|██████████| 10/10 [00:00<00:00, 45.28it/s]\x1b[A
  2%|▏         | 24/1000 [00:06<03:34,  4.56it/s]
{'train_runtime': 231.3038, 'train_samples_per_second': 8.647, 'train_steps_per_second': 4.323, 'epoch': 100.0}
--------- Evaluation start ----------
100%|██████████| 10/10 [00:00<00:00, 15.28it/s]
"""

# https://github.com/ultralytics/ultralytics/issues/7531 and 7653
ULTRALYTICS = """\
      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size
       1/20      4.28G     0.8296      1.756      1.274         73        640:  87%|████████▋ | 250/253 [02:21<00:08,  3.98it/s]
       1/20      4.28G      0.829      1.752      1.273         93        640:  87%|████████▋ | 253/253 [02:21<00:08,  3.90it/s]
                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): 100%|██████████| 8/8 [00:03<00:00,  2.17it/s]
                   all        722       1444      0.989       0.99      0.993      0.681
      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size
       2/20      4.28G     0.8279      1.748      1.273         59        640:  88%|████████▊ | 2/253 [00:00<00:07,  4.01it/s]
"""  # noqa: E501

CAPTURED = Path(__file__).parent / "captured"
"""What programs wrote into a terminal of 80 or 200 columns: small data, two epochs, each with its evaluation."""


def captured(name: str) -> str:
    return (CAPTURED / name).read_bytes().decode("utf-8")


# https://github.com/soumith/dcgan.torch/issues/9
TORCH_GAN = """\
Epoch: [2][      45 /      237]\t Time: 0.127  DataTime: 0.000    Err_G: 1.8754  Err_D: 0.4137\t
Epoch: [2][      46 /      237]\t Time: 0.126  DataTime: 0.027    Err_G: 2.2437  Err_D: 0.6240\t
Epoch: [2][      47 /      237]\t Time: 0.129  DataTime: 0.014    Err_G: 2.1797  Err_D: 0.4843\t
"""

LOGS = {
    "nanogpt": (NANOGPT, [10, 10, 10], 0),
    "nanogpt: first lines": (NANOGPT_FIRST, [10, 10], 0),
    "nanogpt: without mfu": (NANOGPT_OLD, [1], 0),
    "pytorch_imagenet: each rank": (IMAGENET_RANKS, [10], 0),
    "pytorch_imagenet: end of an epoch": (IMAGENET_LAST, [6, 1], 1),
    "pytorch_word_language_model": (WORDS, [200, 383], 1),
    "mxnet_speedometer: before 1.5": (SPEEDOMETER_OLD, [50, 50, 50], 1),
    "mxnet_speedometer": (SPEEDOMETER, [20, 20], 0),
    "mxnet_speedometer: GluonCV": (GLUON_CV, [50], 0),
    "tf_cnn_benchmarks": (TF_CNN, [9, 10], 0),
    "tf_cnn_benchmarks: each rank": (TF_CNN_RANKS, [10, 10], 0),
    "caffe": (CAFFE, [10], 0),
    "caffe: without a rate": (CAFFE_OLD, [100], 0),
    "caffe: no loss": (CAFFE_NAN, [20], 0),
    "caffe: first line": (CAFFE_FIRST, [20], 0),
    "timm": (TIMM, [50, 3, 1, 50], 1),
    # huggingface/pytorch-image-models, train.py (aa4b5850c1543fa488abf260f18390eda46cf85d)
    "timm: 1.0": (captured("timm.txt"), [2, 2, 2, 2, 2, 1, 1, 2, 2, 2, 2, 2, 1], 1),
    "torchvision": (TORCHVISION, [1], 0),
    "torchvision: detection": (TORCHVISION_DETECTION, [24, 1], 1),
    "megatron": (MEGATRON, [1024], 0),
    "deepspeed": (DEEPSPEED, [10], 0),
    "deepspeed: 2022": (DEEPSPEED_OLD, [10], 0),
    "fairseq": (FAIRSEQ, [50, 50], 0),
    "fairseq: 2018": (FAIRSEQ_OLD, [1000, 1223], 1),
    "fairseq: JSON": (FAIRSEQ_JSON, [30], 0),
    "mmengine": (MMENGINE, [10, 10], 1),
    "mmengine: its forerunner": (MMCLS, [10, 15], 1),
    "cntk": (CNTK, [10, 10], 0),
    "cntk: older": (CNTK_OLD, [10], 0),
    "neon": (NEON, [328, 2, 7, 20], 1),
    "torch": (TORCH, [1, 1], 1),
    "torch: multi GPU": (TORCH_MULTI, [1, 1], 0),
    "torch: GAN": (TORCH_GAN, [1, 1], 0),
    # Keras 3.15.1 on TensorFlow 2.21.0, then an evaluation by itself
    "keras: 3.15": (captured("keras.txt"), [1] * 9, 1),
    "keras: 3": (KERAS_3, [1] * 9, 1),
    "keras: no length": (KERAS_UNKNOWN, [1, 2], 0),
    "keras: 2": (KERAS_2, [1, 179], 0),
    "keras: samples": (KERAS_SAMPLES, [96, 128, 29184], 1),
    "keras: a line an epoch": (KERAS_VERBOSE_2, [98, 98], 2),
    "tqdm: nested": (TQDM_NESTED, [1] * 11, 1),
    "tqdm: no length": (TQDM_NO_TOTAL, [2, 1], 0),
    "tqdm: seconds a batch": (TQDM_SLOW, [1, 1], 0),
    "tqdm: after the data": (TQDM_AFTER_DATA, [10], 0),
    "tqdm: after another bar": (TQDM_FIRST_OTHER, [25] + [10] * 6, 0),
    "lightning: before 2.0": (LIGHTNING_1, [1, 1], 1),
    "lightning: each rank": (LIGHTNING_RANKS, [1], 0),
    "lightning: seconds a batch": (LIGHTNING_SLOW, [1], 0),
    "lightning: no bar": (LIGHTNING_NARROW, [1, 1], 1),
    # Lightning 2.6.6 with tqdm 4.70.1, a sanity check first; and with rich 15.0.0, TERM=xterm
    "lightning: 2.6": (captured("lightning_tqdm.txt"), [1] * 11, 1),
    "lightning: rich": (captured("lightning_rich.txt"), [3, 2, 1, 3, 2], 1),
    "hugging_face_trainer": (TRAINER, [10, 4], 0),
    # transformers 5.23.0, evaluated after each epoch
    "hugging_face_trainer: 5.23": (captured("hugging_face_trainer.txt"), [2, 2, 1, 1, 1, 1, 1, 1, 1, 2, 1, 2, 2, 1], 0),
    "ultralytics": (ULTRALYTICS, [3, 2], 1),
    # Ultralytics 8.4.190, the bar that it has had since 2025
    "ultralytics: 8.4": (captured("ultralytics.txt"), [1] * 11, 1),
}
"""A log, what its lines count from one to the next, and how many epochs begin after the first one."""


@pytest.mark.parametrize("name", LOGS)
def test_each_log_is_recognised_and_counts_its_training(name: str) -> None:
    """By itself, and by its name: no evaluation is a step, and several processes that print count once."""
    text, grown, epochs = LOGS[name]
    known = name.partition(":")[0]
    assert read(text) == Read(known, grown, epochs)


def test_every_known_name_is_tested_and_can_be_read() -> None:
    """What a study may name is what is read."""
    assert {name.partition(":")[0] for name in LOGS} == set(KNOWN_LOGS)
    assert {each.name for each in LINE_FORMATS} | BARS | {"keras"} == set(KNOWN_LOGS)
    table = (ROOT / "docs" / "logs.md").read_text("utf-8").partition("## A pattern")[0]
    assert set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE)) == set(KNOWN_LOGS)


def test_a_log_of_an_evaluation_alone_counts_nothing() -> None:
    """It looks like one of a training but for a word."""
    assert read(IMAGENET_EVALUATION) == Read(None, [], 0)
    lines = LogLines("pytorch_imagenet")
    assert [lines.read(line) for line in IMAGENET_EVALUATION.splitlines()] == [None, None]
    assert lines.evaluations == 2


@pytest.mark.parametrize(
    "text",
    [
        "Downloading: 45%|████▌     | 12/30 [00:01<00:02, 12.0MB/s]\n"
        "Downloading: 60%|████▌ | 18/30 [00:01<00:02, 12.0MB/s]\n",
        "12:01:02 3/4 done\n12:01:03 4/4 done\n",
        "loss: 0.5\nloss: 0.4\nTime 0.3\n",
        "Epoch 1/3 took 4s\nEpoch 2/3 took 4s\n",
    ],
)
def test_other_lines_are_no_steps(text: str) -> None:
    """A download, a count of files, a loss."""
    assert read(text) == Read(None, [], 0)


PIECES = sorted({piece for text, *_ in LOGS.values() for piece in re.split(r"(?<=[\[ (/,:|=])", text) if piece})
ODD = ["", "9" * 5000, "1.2.3", "-1", "٣", "nan", "1e999", "\r", "\n", "\x1b[A", "\x08", "::", "Epoch 1/2\n"]


@given(st.lists(st.sampled_from(PIECES + ODD), max_size=40), st.sampled_from([None, *KNOWN_LOGS]))
def test_whatever_is_printed_nothing_breaks(pieces: list[str], pattern: str | None) -> None:
    """Lines of all formats cut apart and put together, with numbers that are none: no step is negative."""
    text = "".join(pieces)
    assert all(grown >= 0 for grown in read(text, pattern).grown)
    now = iter(range(10**6))
    steps = LogRates(pattern, 8, lambda: float(next(now))).feed(f"{text}\n".encode() * 3)
    assert all(step.samples >= 0 for step in steps)
