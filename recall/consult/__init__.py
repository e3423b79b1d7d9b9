"""Reading records: pages, timelines, whole ones, what is related. See ``spec/reading.md``."""
