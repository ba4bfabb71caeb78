"""From scores to one verdict: score, compare, gate, conclude."""
