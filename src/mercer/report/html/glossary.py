"""Plain words for the terms of a report: (key, term, explanation)."""

GLOSSARY = (
    (
        "holdout",
        "Holdout",
        "Rows that were set aside before anything was learned and used once, at the end. A score on them is what "
        "to expect on new rows of the same kind.",
    ),
    (
        "interval",
        "95% interval",
        "If other rows of the same kind had been held out, the score would have been different. Intervals made "
        "this way contain the true score in 95 of 100 cases.",
    ),
    (
        "naive",
        "Naive guess",
        "The same answer for every row: the mean of the target, or the most frequent class. A model that is not "
        "better has learned nothing.",
    ),
    (
        "linear",
        "Linear model",
        "A weighted sum of the columns. It is the yardstick: what is gained beyond it comes from the features.",
    ),
    (
        "r2",
        "R²",
        "The fraction of the variance of the target that the predictions explain: 1 is perfect, 0 is no better "
        "than the mean.",
    ),
    (
        "rmse",
        "RMSE",
        "Root mean squared error: the size of a typical error in units of the target; large errors count more.",
    ),
    (
        "mae",
        "MAE",
        "Mean absolute error: the mean distance between prediction and target, in units of the target.",
    ),
    (
        "median_absolute_error",
        "Median absolute error",
        "Half of the rows have a smaller error, half a larger one.",
    ),
    (
        "pinball",
        "Pinball loss",
        "The loss of a quantile: an error above it counts with the level of the quantile, one below with the rest. Of "
        "several quantiles the mean.",
    ),
    (
        "huber",
        "Huber loss",
        "Half the squared error of usual errors, and proportional to the size of large ones.",
    ),
    (
        "deviance",
        "Deviance",
        "The error of a predicted mean where the variance of the target grows with it: of counts (Poisson), of amounts "
        "(gamma), or of amounts that may be zero (Tweedie). 0 is perfect.",
    ),
    (
        "accuracy",
        "Accuracy",
        "The fraction of rows whose class is predicted correctly.",
    ),
    (
        "balanced_accuracy",
        "Balanced accuracy",
        "The mean over the classes of the fraction of their rows that are predicted correctly; rare classes count "
        "as much as frequent ones.",
    ),
    (
        "auc",
        "AUC",
        "Area under the ROC curve: the probability that a row of the class gets a higher score than a row of "
        "another class; 0.5 is chance, 1 is perfect.",
    ),
    (
        "log_loss",
        "Log loss",
        "The mean of −log(probability given to the true class). Confident mistakes cost much; 0 is perfect.",
    ),
    (
        "brier",
        "Brier score",
        "The mean squared difference between predicted probabilities and what happened; 0 is perfect.",
    ),
    (
        "f1",
        "F1",
        "The harmonic mean of precision and recall: high only if both are.",
    ),
    (
        "precision",
        "Precision",
        "Of the rows predicted as the class, the fraction that belongs to it.",
    ),
    (
        "recall",
        "Recall",
        "Of the rows of the class, the fraction predicted as such.",
    ),
    (
        "threshold",
        "Threshold",
        "The probability from which a row is predicted as the class. It is 0.5 unless mistakes of the two kinds "
        "cost differently.",
    ),
    (
        "calibration",
        "Calibration",
        "Probabilities are calibrated if, of the rows that get 70%, 70% belong to the class.",
    ),
    (
        "confusion",
        "Confusion matrix",
        "How many rows of each class were predicted as which class; correct predictions are on the diagonal.",
    ),
    (
        "cross-validation",
        "Cross-validation",
        "The training rows are divided into folds; each fold is predicted by a model fitted to the others. It "
        "serves to choose between candidates without the holdout.",
    ),
    (
        "loss",
        "Loss",
        "What fitting minimizes. Here the squared error in cross-validation, divided by the variance of the "
        "target: 1 is the mean, 0 is perfect.",
    ),
    (
        "permutation",
        "Permutation importance",
        "How much the loss grows when the values of one column are shuffled among the rows. Columns that carry "
        "the same information can replace each other and then look less important.",
    ),
    (
        "effect",
        "Partial dependence",
        "The mean prediction if one column had the same value in all rows and the others stayed as they are. It "
        "describes the model, not cause and effect.",
    ),
    (
        "points",
        "Points",
        "What a value of a column, or of a pair of columns, adds to the score of an explainable model. The points of a "
        "row and the intercept add up to its prediction, for classes to log-odds.",
    ),
    (
        "points_error",
        "Standard error of points",
        "How far points would typically be from these if other rows of the same kind had been collected: the "
        "jackknife, which fits the model without each part of the rows in turn.",
    ),
    (
        "interaction",
        "Interaction",
        "What the prediction depends on through two columns together, beyond the sum of their separate effects.",
    ),
    (
        "shapley",
        "Shapley value",
        "A fair division of a prediction's distance from the baseline among the columns: each gets its mean "
        "contribution over the orders in which columns become known. The contributions add up to the prediction.",
    ),
    (
        "log-odds",
        "Log-odds",
        "log(p / (1 − p)) of a probability p: 0 is 50%, 2.2 is 90%, −2.2 is 10%. Contributions add up on this scale.",
    ),
    (
        "fourier",
        "Random Fourier features",
        "Cosines and sines of random combinations of the columns. A linear model of many of them approximates a "
        "kernel machine.",
    ),
    (
        "landmarks",
        "Landmarks",
        "Similarities of a row to some of the training rows, by a kernel. A linear model of them approximates a kernel "
        "machine, most closely where there are many rows.",
    ),
    (
        "kernel score",
        "Score of kernel ridge regression",
        "The prediction of a model that weighs similarities to all of its rows, as one column. Training rows have that "
        "of a model that has not seen them.",
    ),
    (
        "bandwidth",
        "Bandwidth",
        "The distance over which a kernel regards rows as similar: small ones follow details, large ones smooth.",
    ),
    (
        "boosting",
        "Boosting score",
        "The sum of many small decision trees, each fitted to what the others left. It enters the linear model as "
        "one feature.",
    ),
    (
        "piecewise",
        "Piecewise-linear features",
        "Features with which the effect of a number may have a different slope in each of its intervals: a linear "
        "spline.",
    ),
    (
        "penalty",
        "Ridge penalty",
        "A price on large weights. It keeps a model with many features from following the noise; each block of "
        "features has its own.",
    ),
    (
        "gain",
        "Fraction of the gain",
        "How much of the improvement over the naive guess on the held-out rows comes from a block of features. "
        "The fractions add up to 1; a negative one means that the block did harm.",
    ),
    (
        "slice",
        "Slice",
        "Rows that have a value or a range of one column in common.",
    ),
    (
        "p-value",
        "p-value",
        "How often a difference at least as large would arise by chance, corrected for the number of slices examined.",
    ),
    (
        "certificate",
        "Certificate",
        "A guarantee on the error of an approximation that holds before looking at the data, with the stated "
        "confidence, and beside it the error that was measured.",
    ),
    (
        "association",
        "Association",
        "How much of the target one column alone explains on rows that it was not fitted to: 0 is nothing, 1 is all.",
    ),
)
