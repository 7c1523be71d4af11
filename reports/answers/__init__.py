"""The first screen and the page's main part: a row and a card a workload."""
