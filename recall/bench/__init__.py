"""What ``recall bench`` does: from labels and roots to a report. See ``spec/bench.md``.

It asks as searches and the hook do, and nothing of theirs knows of it.
"""
