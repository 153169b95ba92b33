"""Proves the graders: what is right passes, and what is wrong, unfinished or junk does not."""
