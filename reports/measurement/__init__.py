"""How it was measured: the model in words and numbers, and the raw figures to download."""
