"""Charts: what a picture shows, as plain data, and its drawing as SVG. Knows nothing of runs, models or studies."""
