"""What the lines of a log tell, of known formats and by a user's own expression. Pure."""
