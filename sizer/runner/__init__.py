"""One RunSpec, one child under its limits, one Run."""
