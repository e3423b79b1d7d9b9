"""Whether all is well, told by evidence: ``gathering`` collects it, the pure ``rules`` judge it."""
