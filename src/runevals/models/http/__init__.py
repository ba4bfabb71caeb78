"""Calls over HTTP: retries, rate limits and slots."""
