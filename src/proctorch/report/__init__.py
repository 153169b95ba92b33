"""Grades and their environment as one numbered document, and the formats it is written in."""
