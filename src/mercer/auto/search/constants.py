"""Tuned constants of the search, each with its unit. `benchmarks/leaderboard.py` is where they were chosen."""

from __future__ import annotations

#: Relative loss that more features must gain.
MIN_GAIN = 2e-3
#: Standard errors that a block must gain that was chosen from many: on noise, one is passed too often.
SELECTED_ERRORS = 2
#: Columns beyond which a fast search refines penalties in three steps only.
MANY_COLUMNS = 300
#: Distinct rows below which no trees, bins or selected columns are tried.
MIN_ROWS = 40
#: Distinct rows below which no random features are tried.
MIN_FOURIER_ROWS = 20
#: Distinct rows below which no products are tried.
MIN_PRODUCT_ROWS = 100
#: Relative loss below which classes are separated so well that the squared error says little about more features.
SEPARATED_LOSS = 0.15
#: Features of a model with piecewise-linear bins, at most.
MAX_PIECEWISE_FEATURES = 3000
#: Bins of all columns together, about.
TOTAL_BINS = 1200
#: Rows per bin of a column, at least.
ROWS_PER_BIN = 20

#: Numbers of selected columns that are tried, and rows for each of them.
SELECTED_SIZES, ROWS_PER_SELECTED = (3, 6, 12, 24), 6

#: Columns that products are made of, at most: those that trees gained most from.
MAX_PRODUCT_COLUMNS = 64
#: Rows that the squares of a product must come from, at least, in effective number.
MIN_EFFECTIVE_ROWS = 50

#: Rows per entry of a full metric, and rows that are enough to evaluate one that was learned from others.
ROWS_PER_METRIC_ENTRY, MIN_OTHER_ROWS = 3, 1500
#: Relative gain of random features or of their metric from which on it is learned again, from twice the rows and width.
LARGE_GAIN = 0.05
#: Kernels that are tried at more than one bandwidth.
N_PROMISING = 2
#: Kernels that are compared once more where random features matter, and the multiple of features for that.
N_FINALISTS, FINALIST_MULTIPLE = 2, 4
#: Relative gain by which a doubled number of random features must lower the loss to be doubled again.
MIN_DOUBLING_GAIN = 0.01
#: Rows by which the median distance of a kernel is estimated.
MEDIAN_ROWS = 2048
#: Weight of a column that trees made no use of, at least.
MIN_COLUMN_WEIGHT = 1e-3
#: Fraction of the probability with which columns of a kernel on subsets are drawn uniformly.
UNIFORM_FRACTION = 0.1
#: Columns of each term of a kernel on subsets.
SUBSET_SIZE = 3

#: Fractions of the time budget after which a stage is no longer begun.
TIME_FOR_TREES, TIME_FOR_SELECTED, TIME_FOR_BINS, TIME_FOR_PRODUCTS, TIME_FOR_FOURIER = 0.3, 0.5, 0.6, 0.6, 0.7
