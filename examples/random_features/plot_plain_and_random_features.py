"""
Plain columns and random features
=================================

How much do random features add to a linear model? Ridge regression on the standardized columns is compared with ridge
regression on random Fourier features, which approximate a Gaussian kernel, on three data sets that ship with
scikit-learn. Five folds of the training rows choose the bandwidth and the penalty. A quarter of the rows is held out,
and evaluates both models once.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

import mercer

DATA = {
    "digits": (load_digits, "classification"),
    "breast cancer": (load_breast_cancer, "classification"),
    "diabetes": (load_diabetes, "regression"),
}
searches, results = {}, {}
for name, (load, task) in DATA.items():
    train, holdout = mercer.split_holdout(mercer.read(load()), 0.25)
    searches[name] = mercer.compare_lifts(train, task, n_components=512)
    plain, lifted = searches[name].plain, searches[name].lifted
    results[name] = mercer.evaluate(plain.model, lifted.model, holdout, task)
    selected = "plain columns" if searches[name].best.plain else "random features"
    print(f"{name}: the folds select the {selected}; {results[name].metric} on {results[name].n} held-out rows:")
    for title, score in (("plain", results[name].first), ("random", results[name].second)):
        print(f"  {title:<6} {score.value:.3f}, 95 % interval {score.low:.3f} to {score.high:.3f}")

# %%
# The bandwidth
# -------------
# All candidates share the folds, so their errors are comparable. A bandwidth far below the median distance between rows
# makes every row similar to itself only; a large one makes the features nearly linear.

figure, axes = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
for ax, (name, search) in zip(axes, searches.items(), strict=True):
    lifts = [trial for trial in search.trials if not trial.plain]
    multiples = [trial.multiple for trial in lifts]
    ax.plot(multiples, [trial.loss for trial in lifts], "o-", label="random features")
    ax.axhline(search.plain.loss, color="black", linestyle=":", label="plain columns")
    ax.set_xscale("log", base=2)
    ax.set(xticks=multiples, xticklabels=multiples, xlabel="bandwidth / median distance", title=name)
axes[0].set_ylabel("squared error, 5 folds")
axes[0].legend()

# %%
# The holdout
# -----------
# On the digits the gain is clear: its interval lies above zero. The other two data sets are too small for a clear
# difference, and the simpler model is a fair choice.

figure, ax = plt.subplots(figsize=(7, 2.4), layout="constrained")
for row, (name, result) in enumerate(results.items()):
    gain = result.gain
    ax.errorbar(gain.value, row, xerr=[[gain.value - gain.low], [gain.high - gain.value]], fmt="o", capsize=4)
    print(f"{name}: gain in {result.metric} {gain.value:+.3f}, {'clear' if result.clear else 'not significant'}")
ax.axvline(0, color="black", linewidth=0.8)
ax.set(yticks=range(len(results)), yticklabels=results, xlabel="gain of random features, 95 % interval")
ax.set_title("Scores of held-out rows, less those of the plain columns")
ax.invert_yaxis()
plt.show()
