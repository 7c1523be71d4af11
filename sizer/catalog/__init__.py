"""Pure: what can be rented, at which price, as of which day and by which source."""

from __future__ import annotations

from sizer.catalog.catalog import AcceleratorRate, Catalog, DiskOffer, InstanceType, same_gpu
from sizer.catalog.importing import catalog_text, import_csv

__all__ = ["AcceleratorRate", "Catalog", "DiskOffer", "InstanceType", "catalog_text", "import_csv", "same_gpu"]
