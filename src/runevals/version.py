"""The version of runevals."""

__version__ = "0.1.0"
# What workflows and pages use of this repository: a commit until there is a release, `v0` from then on.
ACTION_REF = "729c434590af58fd873dbdaed0f05d16c7f4efad"
