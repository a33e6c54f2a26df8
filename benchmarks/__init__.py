"""Speed and memory beside the peers, in one run, as ratios. `make bench` runs all; `make bench ARGS=random_features` one."""
