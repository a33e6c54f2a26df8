"""Speed and memory beside the peers, in one run, as ratios: `make bench`, or `make bench ARGS=random_features`."""
