"""Questions on paper: sheets for candidates and interviewers, answer keys, notebooks and kits."""
