"""Nobody asks."""
