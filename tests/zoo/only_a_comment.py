# A comment is no function.
