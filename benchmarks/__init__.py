"""Speed and memory relative to other libraries: `make bench`, or `make bench ARGS=random_features`."""
