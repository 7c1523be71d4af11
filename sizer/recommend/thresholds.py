"""When something is sure enough, and when two rates are alike: the same for a curve and for machines compared."""

from __future__ import annotations

SURE = 0.9
"""What is asked for is reached with at least this probability; a choice that is less likely right is in doubt."""
TIE = 0.99
"""`fastest` takes the cheapest of those within one percent of the highest rate."""
DISK_LOSS = 0.02
"""The share of the best disk's rate that a cheaper one may cost, at the same size and whatever the target."""
