"""Workers that run what a suite brings along: killable, without environment, a time limit on every call."""

from runevals.sandbox.pool import Sandbox

__all__ = ["Sandbox"]
