"""Writes into a root, granted one at a time and audited. See ``spec/writing.md``."""
