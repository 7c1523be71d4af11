"""What to measure: a study file in YAML becomes a Study with every default filled in, and back."""
