"""What the definitions of a network share in every framework, from its paper."""

from __future__ import annotations

CLASSES = 1000
"""ImageNet's."""

INCEPTION = (
    (64, 96, 128, 16, 32, 32),
    (128, 128, 192, 32, 96, 64),
    None,
    (192, 96, 208, 16, 48, 64),
    (160, 112, 224, 24, 64, 64),
    (128, 128, 256, 24, 64, 64),
    (112, 144, 288, 32, 64, 64),
    (256, 160, 320, 32, 128, 128),
    None,
    (256, 160, 320, 32, 128, 128),
    (384, 192, 384, 48, 128, 128),
)
"""Szegedy et al. 2014 (arXiv:1409.4842), table 1, 3a to 5b: #1x1, #3x3 reduce, #3x3, #5x5 reduce, #5x5, pool proj;
None is a max pooling of 3x3 with stride 2."""

FULLY_CONNECTED = (26_752, 2048, 2048, 2048, 26_752)
"""Units of the five layers of dlbench's FCN-S (https://github.com/hclhkbu/dlbench,
synthetic/experiments/mxnet/fc/symbol_fcn5.py): inputs, three hidden layers with sigmoids, classes."""
