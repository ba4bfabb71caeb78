"""How much of what could go wrong would a suite notice: its checks are asked about answers that are wrong."""
