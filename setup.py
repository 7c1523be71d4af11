"""Packages sizer, with the top-level folders `workloads` and `reports` inside it as `sizer.bundled`."""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent
VERSION = re.search(r'__version__ = "(.+)"', (HERE / "sizer/__init__.py").read_text()).group(1)

# Ranges that were tried together. MXNet 1.9.1 is its last release and needs numpy < 2, which its own metadata says;
# the profiler itself does not, so nothing here holds numpy back when MXNet lives in an interpreter of its own.
PROFILER = [
    "numpy>=1.23,<3",
    "scipy>=1.10,<2",
    # Says with how many threads BLAS computes: of scikit-learn's makers, since 2019, BSD-3-Clause, one file of 84 KB.
    "threadpoolctl>=3.1,<4",
    "jinja2>=3.1,<4",
    "psutil>=5.9,<8",
    "nvidia-ml-py>=12,<14",
    "PyYAML>=6.0,<7",
    "jsonschema>=4.18,<5",
]
WORKLOADS = [
    'mxnet==1.9.1; python_version < "3.13" and platform_machine == "x86_64"',
    # distutils, which MXNet imports, left the standard library with Python 3.12.
    'setuptools; python_version >= "3.12"',
    # 4.12 and later ask for numpy 2.
    "opencv-python-headless>=4.8,<4.12",
    # Decodes JPEGs with libjpeg-turbo alone, to the same pixels in 0.94 of OpenCV's time: MIT, 0.5 MB, since 2019.
    "simplejpeg>=1.8,<2",
    "lmdb>=1.4,<4",
]
# The ordinary wheel of x86-64 brings gigabytes of CUDA; pip takes the CPU build (2.13.0+cpu, 192 MB) where an index
# offers it, because a local version sorts above the plain one.
PYTORCH = ["torch==2.13.0"]
# Makes today's networks from their configurations: Apache-2.0, monthly releases by Hugging Face since 2018, 110 MB with
# what it needs. 5.23.0 is what was tried.
TRANSFORMERS = [*PYTORCH, "transformers>=5,<6"]
TEST = [
    "pytest>=8,<10",
    # The decoder that most users of PyTorch have.
    "pillow>=10",
    # Runs tests side by side that do not disturb each other.
    "pytest-xdist>=3.5,<4",
    "hypothesis>=6.100,<7",
    # Drives Debian's Chromium, so that none of its own browsers is fetched.
    "playwright>=1.49,<2",
    # Brings axe-core, which knows the rules of accessibility.
    "axe-playwright-python>=0.1.8,<0.2",
    # 2.4 checks with several processes.
    "mypy>=2.4,<3",
    # Its formatter may change with each minor version.
    "ruff>=0.17,<0.18",
    # Checks the layers that pyproject.toml names.
    "import-linter>=2.7,<3",
    # Collects and compiles the sentences that sizer/words makes.
    "babel>=2.14,<3",
    "types-PyYAML>=6,<7",
    "types-psutil>=7,<8",
    "types-jsonschema>=4,<5",
]

setup(
    name="sizer",
    version=VERSION,
    description="Cloud instance sizing profiler for deep learning",
    long_description=(HERE / "README.md").read_text(),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.10",
    packages=find_packages(include=["sizer", "sizer.*"]),
    package_data={
        "sizer": [
            "**/*.json",
            "**/*.csv",
            "**/*.yaml",
            "**/*.mo",
            "hook/*.py",
            "catalog/data/*.md",
            "exchange/templates/*",
        ],
        "sizer.bundled.workloads": ["**/*"],
        "sizer.bundled.reports": ["**/*"],
    },
    install_requires=PROFILER + WORKLOADS,
    extras_require={"pytorch": PYTORCH, "transformers": TRANSFORMERS, "test": TEST},
    entry_points={"console_scripts": ["sizer=sizer.cli:main"]},
)
