"""
Diabetes: whom to see first
===========================

Ten measurements of 442 patients ship with scikit-learn, with a number that says how far the disease had progressed a
year later. A clinic has measured 142 new patients and can follow up thirty of them. Whom should it invite?
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from pyarrow import Table
from pyarrow.csv import write_csv
from sklearn.datasets import load_diabetes

import mercer

patients = load_diabetes(as_frame=True, scaled=False).frame.sample(frac=1, random_state=0)
known, new = patients[:300], patients[300:]
path = Path(tempfile.mkdtemp()) / "known.csv"
write_csv(Table.from_pandas(known, preserve_index=False), path)

# %%
# Look before you fit
# -------------------
# `guess_roles` says what Mercer takes each column for, and why. ``mercer inspect known.csv --target target`` shows the
# same in a terminal, with checks of the data.

for name, role in mercer.guess_roles(mercer.read_table(path, target="target")).items():
    print(f"{name:<4} {role}")

# %%
# Fit, and read the verdict
# -------------------------
# On a small table with much noise nothing beats the linear model of the columns, and the report says so. That is an
# answer: the model stays simple, and more complicated ones are not worth the trouble.

model = mercer.fit(path, "target")
report = model.report()
for name in ("model", "linear", "naive"):
    score = report["holdout"][name]
    print(f"{name:<7} R2 {score['value']:.2f}  (95 % interval {score['low']:.2f} to {score['high']:.2f})")
print("features:", ", ".join(block["title"] for block in report["blocks"]))

# %%
# Invite thirty patients
# ----------------------
# The decision needs a ranking only. It is checked against what happened: the mean progression of the patients invited,
# beside that of all and that of a choice that knows the future.

predicted, truth = model.predict(new), new["target"].to_numpy()
invited = np.argsort(-predicted)[:30]
print(f"mean progression of all new patients   {truth.mean():.0f}")
print(f"of the thirty invited by the model     {truth[invited].mean():.0f}")
print(f"of the thirty that were worst          {np.sort(truth)[-30:].mean():.0f}")

low, high = model.predict_interval(new, level=0.8).T
order = np.argsort(predicted)
at, chosen = np.arange(len(order)), np.isin(order, invited)
fig, ax = plt.subplots(figsize=(9, 3.6), layout="constrained")
ax.vlines(at, low[order], high[order], color="#9dbfe3", linewidth=3, label="80 % interval")
ax.scatter(at, truth[order], s=14, c=np.where(chosen, "#c03a2b", "#555555"), zorder=3, label="a year later")
ax.set(xlabel="new patients, by predicted progression", ylabel="progression", title="Red: the thirty patients invited")
ax.legend(loc="upper left")
inside = np.mean((low <= truth) & (truth <= high))
print(
    f"the 80 % intervals contain {inside:.0%} of the new patients, but they are wide: the order is a guide, no verdict"
)

# %%
# Why this patient
# ----------------
# A doctor wants to know what put a patient on the list. The contributions of the columns add up to the prediction.

print(model.explain(new.iloc[invited[:1]].drop(columns="target")))
plt.show()
