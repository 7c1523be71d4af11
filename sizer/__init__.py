"""sizer: which is the cheapest machine on which a deep-learning job loses nothing?"""

__version__ = "0.3.0"
