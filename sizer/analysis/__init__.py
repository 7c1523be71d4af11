"""Pure: what a child wrote and what was counted become a Run."""
