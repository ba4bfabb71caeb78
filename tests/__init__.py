import sys

# Of which each worker needs what another has written, until all tests are collected.
MAY_NOT_WRITE_BYTECODE, sys.dont_write_bytecode = sys.dont_write_bytecode, False
