"""The page of a study on loopback, live: it knows of no study, only of the file that the page is."""
