"""All that decides. The candidate's code never runs here."""
