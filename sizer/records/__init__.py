"""What the parts hand to each other: frozen records, and what everybody needs to read and write them."""
