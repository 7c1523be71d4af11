"""Each reason as a sentence, or two: the templates, and how they are filled."""
