"""Every sentence that a person reads, made from records, in the language of that person."""

from __future__ import annotations

from sizer.words.language import ENGLISH, in_language, languages

__all__ = ["ENGLISH", "in_language", "languages"]
