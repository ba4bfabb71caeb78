"""What the verdict would see on a suite: changes are simulated by its measured pass rates, and decided."""
