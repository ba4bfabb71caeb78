"""Which lines of a prompt change nothing: they are taken out, and all cases run without them."""
