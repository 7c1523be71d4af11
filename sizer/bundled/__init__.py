"""The workloads and the reports, inside the package.

In the checkout they are top-level folders, and this package holds links to them. Installed, they lie here and nowhere
else, so that a user's own `workloads` or `reports` neither hides them nor is hidden by them.
"""

from pathlib import Path

WORKLOADS_PATH = Path(__file__).parent
"""The folder that a workload's interpreter gets as its module path; it holds nothing but these two packages."""
