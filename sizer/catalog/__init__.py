"""Pure: what can be rented, at which price, as of which day and by which source."""
