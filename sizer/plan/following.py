"""What comes after the runs of a plan: each next run of it depends on runs before it."""

from __future__ import annotations

from sizer.plan.batch_search import BatchSearch
from sizer.plan.floor_search import Search
from sizer.plan.two_epochs import TwoEpochs

Following = Search | BatchSearch | TwoEpochs
