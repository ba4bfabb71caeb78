"""Fresh working folders for the attempts of a run."""
