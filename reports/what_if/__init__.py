"""The sliders: what the page's own model is given and which controls show it."""
