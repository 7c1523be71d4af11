"""Every sentence that a person reads, made from records, in the language of that person."""
