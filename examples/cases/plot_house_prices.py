"""
House prices: from a file to a decision
=======================================

An agency has 900 sales in a CSV file and 60 houses on offer. It wants to know what each house is worth, how sure that
is, and which offers deserve a visit. The file is generated here, with the usual trouble: missing values, columns of
categories, a decimal comma, and a target that depends on the columns in curves and products.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import mercer

rng = np.random.default_rng(0)
DISTRICTS = {"center": 5200, "harbor": 4300, "hills": 4800, "station": 3300, "west": 3800}


def houses(n):
    district = rng.choice(list(DISTRICTS), n)
    area = rng.gamma(9.0, 11.0, n) + 25
    built = rng.integers(1900, 2025, n)
    energy = rng.choice(list("ABCDEF"), n, p=[0.1, 0.2, 0.25, 0.2, 0.15, 0.1])
    per_square = np.array([DISTRICTS[name] for name in district]) * (
        1.15 - 0.06 * np.array(["ABCDEF".index(e) for e in energy])
    )
    charm = np.where(built < 1920, 1.12, 1 - 0.002 * (2025 - built))
    price = per_square * area**0.93 * charm * np.exp(0.08 * rng.normal(size=n)) / 1000
    rows = zip(district, area, built, energy, price, strict=True)
    return [
        (name, f"{a:.1f}".replace(".", ","), f"{b}", "" if rng.random() < 0.05 else e, p) for name, a, b, e, p in rows
    ]


folder = Path(tempfile.mkdtemp())
sold, offered = houses(900), houses(60)
lines = ["district;area;built;energy;price", *(f"{d};{a};{b};{e};{p:.0f}" for d, a, b, e, p in sold)]
_ = (folder / "sales.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")

# %%
# Look before you fit
# -------------------
# `mercer inspect` in a terminal, or `read_table` here, says how the file was read: the delimiter and the decimal
# comma were found, and the types come from all rows.

print("\n".join(lines[:3]))
table = mercer.read_table(folder / "sales.csv")
print(table.n_rows, "rows")

# %%
# Fit, and read the verdict
# -------------------------
# The report states what to expect on rows that the model has not seen, beside a linear model of the same columns.

model = mercer.fit(folder / "sales.csv", "price", effort="fast")
holdout = model.report()["holdout"]
for name in ("model", "linear"):
    score = holdout[name]
    print(f"{name:<7} R2 {score['value']:.3f}  (95 % interval {score['low']:.3f} to {score['high']:.3f})")
print("columns that matter:", ", ".join(sorted(model.importance(), key=model.importance().get, reverse=True)[:3]))

# %%
# Value the offers
# ----------------
# A price alone is not enough for a decision. `predict_interval` gives the range that contains the price of a new
# house with probability 0.8. The asking prices are noisy here; offers below the whole interval are worth a visit.

new = {
    "district": [row[0] for row in offered],
    "area": [float(row[1].replace(",", ".")) for row in offered],
    "built": [int(row[2]) for row in offered],
    "energy": [row[3] or None for row in offered],
}
worth = model.predict(new)
low, high = model.predict_interval(new, level=0.8).T
asking = np.array([row[4] for row in offered]) * np.exp(0.12 * rng.normal(size=len(offered)))
visit = asking < low
truth = np.array([row[4] for row in offered])
print(f"{visit.sum()} of {len(offered)} offers lie below their interval: " + ", ".join(map(str, np.flatnonzero(visit))))
print(f"the intervals contain {np.mean((low <= truth) & (truth <= high)):.0%} of the true prices")

order = np.argsort(worth)
fig, ax = plt.subplots(figsize=(9, 3.8), layout="constrained")
at = np.arange(len(order))
ax.vlines(at, low[order], high[order], color="#9dbfe3", linewidth=4, label="80 % interval")
ax.plot(at, worth[order], "_", color="#1763b6", markersize=7, label="predicted price")
ax.scatter(at, asking[order], s=16, c=np.where(visit[order], "#c03a2b", "#555555"), zorder=3, label="asking price")
ax.set(xlabel="offers, by predicted price", ylabel="price in thousands", title="Red: below the interval, worth a visit")
ax.legend(loc="upper left")

# %%
# Why this price
# --------------
# The contributions of the columns add up to the prediction. This is what the agent tells the buyer.

first = int(np.flatnonzero(visit)[0]) if visit.any() else 0
explained = model.explain({name: values[first : first + 1] for name, values in new.items()})
print(
    {name: round(float(value), 1) for name, value in explained.contributions.items()},
    "baseline",
    round(explained.baseline, 1),
)

fig, ax = plt.subplots(figsize=(6.5, 2.6), layout="constrained")
names, values = zip(*sorted(explained.contributions.items(), key=lambda item: abs(item[1])), strict=True)
ax.barh(names, values, color=["#c03a2b" if value < 0 else "#1763b6" for value in values])
ax.axvline(0, color="black", linewidth=0.8)
ax.set(
    xlabel="change of the price in thousands",
    title=f"Offer {first}: why {worth[first]:.0f} and not {explained.baseline:.0f}",
)
plt.show()
