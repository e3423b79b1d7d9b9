"""What cron, systemd and launchd are given, and what came of it. See ``spec/schedule.md``."""
