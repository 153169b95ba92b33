"""What is tried."""
