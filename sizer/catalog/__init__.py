"""Pure: what can be rented, at which price, as of which day and by which source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sizer.lazily import exports

if TYPE_CHECKING:
    from sizer.catalog.accelerator_rates import AcceleratorRate
    from sizer.catalog.catalog import Catalog, DiskOffer, InstanceType
    from sizer.catalog.data_sheets import data_sheet
    from sizer.catalog.gpu_scaling import ScalingEfficiency, scaling_efficiency
    from sizer.catalog.gpus import (
        GPU_MEMORY_GB,
        gpu_names,
        is_alike,
        meant_gpu,
        read_gpu_name,
        same_gpu,
    )
    from sizer.catalog.importing import catalog_text, import_csv
    from sizer.catalog.rate_estimate import Basis, RateEstimate, RateQuestion, published_gpus, smallest_memory
else:
    __getattr__ = exports(__name__, __file__)

__all__ = [
    "GPU_MEMORY_GB",
    "AcceleratorRate",
    "Basis",
    "Catalog",
    "DiskOffer",
    "InstanceType",
    "RateEstimate",
    "RateQuestion",
    "ScalingEfficiency",
    "catalog_text",
    "data_sheet",
    "gpu_names",
    "import_csv",
    "is_alike",
    "meant_gpu",
    "published_gpus",
    "read_gpu_name",
    "same_gpu",
    "scaling_efficiency",
    "smallest_memory",
]
