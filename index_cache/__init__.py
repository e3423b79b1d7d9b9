"""From a canonical view (directories of Markdown) to derived SQLite caches, and back to hits."""
