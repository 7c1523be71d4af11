"""What schema 1 held where an imported table says nothing becomes null: it named such columns in `untold`. Frozen."""

from __future__ import annotations

from typing import Any

PLACES = {
    "vcpus": "vcpus",
    "memory_gib": "memory_bytes",
    "disk": "disk",
    "batch_size": "batch_size",
    "gpu_count": "gpu_count",
}
WORKLOADS = ("framework", "input", "cache")


def without_untold(form: dict[str, Any]) -> dict[str, Any]:
    """The form of a run with null for each column that its `untold` names; a form that is no run's is left as it is."""
    untold, spec, place = form.get("untold") or [], form.get("spec"), form.get("configuration")
    plain = {key: value for key, value in form.items() if key != "untold"}
    if not isinstance(untold, list) or not isinstance(spec, dict) or not isinstance(place, dict):
        return plain
    workload = spec.get("workload")
    if isinstance(workload, dict):
        workload = {key: None if key in WORKLOADS and key in untold else value for key, value in workload.items()}
        device = workload.get("device")
        if "device" in untold and isinstance(device, dict):
            workload["device"] = None if device.get("kind") == "cpu" else {**device, "index": None}
        plain["spec"] = {**spec, "workload": workload}
    plain["configuration"] = place | {PLACES[column]: None for column in untold if column in PLACES}
    return plain | ({"started_at": None} if "started_at" in untold else {})
