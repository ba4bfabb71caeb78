"""Models over HTTP: chat and its wires, identity, pace, prices, and the dates of models."""
