"""Trials of the judge: calibration against people, and attacks."""
