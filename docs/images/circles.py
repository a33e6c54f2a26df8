"""Draw docs/images/circles.png, the picture of the README: python docs/images/circles.py."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image
from sklearn.datasets import make_circles, make_moons
from sklearn.pipeline import make_pipeline

import mercer

CLOUDS = {
    "two circles": make_circles(400, noise=0.12, factor=0.45, random_state=0),
    "two moons": make_moons(400, noise=0.2, random_state=0),
}
MODELS = {
    "ridge on plain columns": make_pipeline(mercer.Standardize(), mercer.RidgeClassifier()),
    "ridge on 256 random features": make_pipeline(
        mercer.Standardize(), mercer.RandomFeatures(mercer.Gaussian(1.0), n_components=256), mercer.RidgeClassifier()
    ),
}


def draw(ax, model, X, y):
    """Scores of the model over the plane, its boundary, and the points."""
    low, high = X.min(axis=0) - 0.2, X.max(axis=0) + 0.2
    across, up = np.meshgrid(np.linspace(low[0], high[0], 220), np.linspace(low[1], high[1], 180))
    score = model.decision_function(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    ax.contourf(across, up, np.clip(score, -1, 1), levels=np.linspace(-1, 1, 15), cmap="RdBu_r", alpha=0.55)
    ax.contour(across, up, score, levels=[0.0], colors="black", linewidths=1.5)
    ax.scatter(*X.T, c=y, cmap="RdBu_r", s=10, edgecolors="white", linewidths=0.3)
    ax.set(xticks=[], yticks=[])


def main():
    fig, axes = plt.subplots(2, 2, figsize=(7.2, 5.2), dpi=100, layout="constrained")
    for row, (cloud, (X, y)) in zip(axes, CLOUDS.items(), strict=True):
        for ax, (name, model) in zip(row, MODELS.items(), strict=True):
            model.fit(X[::2], y[::2])
            draw(ax, model, X, y)
            ax.set_title(f"{name}: {model.score(X[1::2], y[1::2]):.0%} right", fontsize=10)
        row[0].set_ylabel(cloud)
    fig.canvas.draw()
    # A palette of 96 colors makes the file a third as large, and nobody sees it.
    image = Image.fromarray(np.asarray(fig.canvas.buffer_rgba())[..., :3]).quantize(96)
    image.save(Path(__file__).with_name("circles.png"), optimize=True)


if __name__ == "__main__":
    main()
