"""Tuned constants of the search, each with its unit, below the benchmark that they were chosen by.

The sizes of an effort are in `mercer.auto.budget.effort`, the model of memory in `mercer.auto.budget.memory`.
"""

from __future__ import annotations

import numpy as np

# Blocks of features: benchmarks/leaderboard.py

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

#: Distinct rows from which on trees of hundreds of leaves are tried where dozens do better than a few dozen.
MIN_LARGER_ROWS = 5000
#: Classes beyond which no trees are grown: each round costs a tree for each class.
MAX_TREE_CLASSES = 100

# Few rows, or fewer rows than columns: benchmarks/wide_tables.py

#: Rows below which supervised blocks are fitted without each fold as well, to be evaluated by the folds.
FEW_ROWS = 500
#: Columns that a tree considers, and bins of each, where there are fewer rows than columns.
MAX_SCREENED_COLUMNS, COARSE_BINS = 512, 32
#: Distinct rows below which trees have twice the folds, so that an ensemble misses few of them.
FEW_TREE_ROWS = 2500
#: Numbers of selected columns that are tried, and rows for each of them.
SELECTED_SIZES, ROWS_PER_SELECTED = (2, 3, 4, 6, 8, 12, 16, 24), 6
#: Distinct rows below which the errors of single rows do not choose between models.
MIN_COMPARED_ROWS = 20
#: Penalty, relative to the scale of the features, that leaves nothing of their weights.
NO_WEIGHT = 1e9

# Products and random features: benchmarks/leaderboard.py

#: Columns that products are made of, at most: those that trees gained most from.
MAX_PRODUCT_COLUMNS = 64
#: Rows that the squares of a product must come from, at least, in effective number.
MIN_EFFECTIVE_ROWS = 50

#: Numbers and categories that derived numbers are made of, at most: those that trees gained most from.
MAX_DERIVED_NUMBERS, MAX_DERIVED_CATEGORIES = 12, 8
#: Equally filled bins of a derived number that the residual is compared in.
SCREENING_BINS = 8
#: Probability, divided by the number of derived numbers, that one passes which is independent of the residual.
SCREENING_LEVEL = 0.01
#: Correlation with a better derived number from which on one is left out.
MAX_DERIVED_CORRELATION = 0.95

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
#: Distinct rows below which no landmarks are tried, and the factor by which their kernel is made narrower at a time.
MIN_LANDMARK_ROWS, NARROWER = 1000, 0.7
#: Loss of landmarks relative to that of as many random features beyond which no narrower kernel is tried.
FAR_BEHIND = 1.1

#: Rows below which no score of kernel ridge regression is tried, rows that it is tried on first, and the relative loss
#: below which there is nothing left to gain.
MIN_KERNEL_ROWS, KERNEL_PROBE_ROWS, MIN_KERNEL_LOSS = 2000, 4000, 1e-3
#: Error of the score of some rows alone, relative to the loss so far, beyond which it is not tried on more.
MAX_KERNEL_RATIO = 4.0
#: Relative gain below which it is not kept: scores of other rows have seen the targets of a fold, which is worth half a
#: percent on noise, and similarities to all rows cost time in each prediction.
MIN_KERNEL_GAIN = 0.01
#: Penalties of kernel ridge regression that are tried, and its bandwidth as a multiple of the median distance.
KERNEL_PENALTIES, KERNEL_MULTIPLE = (0.03, 0.3, 3.0), 0.7
#: Operations for each pair of rows beside those of the columns and of each output, and of all pairs, at most.
PAIR_COST, OUTPUT_COST, MAX_KERNEL_COST = 200, 30, 1e11
#: Outputs beyond which, and multiples of the rows of the fit beyond which it is not tried.
MAX_KERNEL_OUTPUTS, MAX_KERNEL_MULTIPLE = 12, 5

# The final model of classes: benchmarks/leaderboard.py

#: Penalties of the logistic loss to try, relative to those of the squared error. Near even odds the logistic loss of
#: a score is an eighth of the squared error of targets four apart, so an eighth is where the two agree.
RELATIVE_PENALTIES = (1 / 64, 1 / 16, 1 / 4)
#: The same for several classes without trees: where classes are well separated, odds are anything but even.
SMALL_PENALTIES = (1 / 1024, 1 / 256, 1 / 64)
#: Penalties that are tried as well where rows are few: classes may be separable.
STRONG_PENALTIES = (1.0, 8.0)
#: Distinct rows up to which each fold is held out in turn.
FEW_LOGISTIC_ROWS = 1500
#: Rows that penalty and temperature are chosen on: to fit, and to evaluate.
TRAIN_ROWS, TEST_ROWS = 6000, 4000
TEMPERATURES = np.geomspace(0.7, 2.0, 22)
#: Weights from which on a penalty is chosen by half as many iterations.
MANY_WEIGHTS = 4000
#: Pairs of random features that penalty and temperature are chosen with, beside trees and without them.
PAIRS_WITH_TREES, PAIRS_WITHOUT_TREES = 192, 512

# The final model of other losses than the squared error: benchmarks/losses.py

#: Penalties to try, relative to those of the squared error with the same effect.
GENERALIZED_MULTIPLES = (0.2, 1.0, 5.0, 30.0)
#: Rows that penalties are chosen on: to fit, and to evaluate.
GENERALIZED_TRAIN, GENERALIZED_TEST = 10_000, 5000

# Sparse text features: the text sets of benchmarks/leaderboard.py

#: Terms of texts and sequences that a dense search may have.
MAX_DENSE_TERMS = 2000
#: Costs of the squared hinge loss, and penalties of the squared error, for rows of length one.
HINGE_COSTS = (0.03, 0.1, 0.3, 1.0, 3.0)
RIDGE_PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
TEXT_TEMPERATURES = np.geomspace(0.1, 30.0, 58)

# Time budgets: tests/auto/budget hold them

#: Fraction of a time budget for the search where a refit follows, where nothing does, and where weights of all rows do.
TIME_FOR_SEARCH, TIME_FOR_SEARCH_ALONE, TIME_FOR_SAMPLE = 0.45, 0.95, 0.6
#: Fractions of the time budget after which a stage is no longer begun.
TIME_FOR_TREES, TIME_FOR_SELECTED, TIME_FOR_BINS, TIME_FOR_PRODUCTS, TIME_FOR_FOURIER = 0.3, 0.5, 0.6, 0.6, 0.7
TIME_FOR_LANDMARKS, TIME_FOR_KERNEL_SCORE = 0.6, 0.6
