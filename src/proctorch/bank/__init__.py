"""A bank: a folder of questions with their graders and solutions, read once into frozen data."""
