"""Draw docs/images/internals.png, one row on its way through Mercer: python docs/images/internals.py."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import FancyBboxPatch
from PIL import Image

WIDTH, HEIGHT = 2.25, 1.05
#: Lane -> (color, boxes); a box is the room, what it does, and what the row has become.
LANES = {
    "mercer fit: read and encode": (
        "#dbe9f6",
        [
            ("houses.csv", "a line of text", "82.5,Bern,1987-04-01,785"),
            ("io", "detect dialect and types,\nwrite temporary Parquet", "number, text, date; target"),
            ("source", "blocks of rows, row hash,\nholdout and folds", "in one of five folds"),
            ("tables", "roles and encoders\nof the columns", "-0.29, 0 1 0 0, 0.09, ..."),
        ],
    ),
    "search and fit": (
        "#e3f1e1",
        [
            ("auto.search", "stages propose blocks,\nthe folds decide", "10 columns -> 537 features"),
            ("linear.ridge", "exact K-fold loss, one\npenalty for each block", "part of a Gram matrix"),
            ("auto.final", "weights of the linear\nmodel on all features", "one of the fitted rows"),
            ("auto.holdout", "evaluate once on the\nheld-out rows, then refit", "fitted once more"),
            ("auto.model, io", "encoder, features, weights\nand report as a file", "houses.mercer"),
        ],
    ),
    "mercer predict": (
        "#fdebd9",
        [
            ("io", "load houses.mercer,\nread new.csv", "82.5, Bern, 1987-04-01"),
            ("tables", "encode with the\nfitted encoders", "-0.29, 0 1 0 0, 0.09, ..."),
            ("auto.features", "compute the blocks\nof features", "537 features in float32"),
            ("auto.final", "features @ coef\n+ intercept", "784.9"),
            ("io", "write the predictions", "a line of the output"),
        ],
    ),
}


def draw_box(ax, x, y, color, name, does, row):
    """One room: its name, what it does, and the row after it."""
    style = FancyBboxPatch((x, y), WIDTH, HEIGHT, boxstyle="round,pad=0.04", facecolor=color, edgecolor="#666666")
    ax.add_patch(style)
    ax.text(x + WIDTH / 2, y + HEIGHT - 0.13, name, ha="center", va="center", weight="bold", fontsize=11)
    ax.text(x + WIDTH / 2, y + 0.58, does, ha="center", va="center", fontsize=9)
    ax.text(x + WIDTH / 2, y + 0.13, row, ha="center", va="center", fontsize=8.5, family="monospace", color="#7a2f00")


def draw_arrow(ax, start, end):
    ax.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": "#444444", "linewidth": 1.3})


def main():
    fig, ax = plt.subplots(figsize=(12.6, 5.0), dpi=110)
    step, height = WIDTH + 0.32, HEIGHT + 0.62
    for k, (lane, (color, boxes)) in enumerate(LANES.items()):
        y = -k * height
        ax.text(0, y + HEIGHT + 0.2, lane, fontsize=11, style="italic", color="#333333")
        for j, box in enumerate(boxes):
            draw_box(ax, j * step, y, color, *box)
            if j:
                draw_arrow(ax, (j * step - 0.3, y + HEIGHT / 2), (j * step - 0.04, y + HEIGHT / 2))
    # The encoded row enters the search; the model file enters the prediction.
    for k, last in ((0, 3), (1, 4)):
        bottom, right, left = -k * height, last * step + WIDTH / 2, 0.8 * WIDTH
        turn = bottom - 0.24
        ax.plot([right, right, left], [bottom - 0.05, turn, turn], color="#444444", linewidth=1.3)
        draw_arrow(ax, (left, turn), (left, bottom - height + HEIGHT + 0.03))
    ax.set(xlim=(-0.1, 5 * step - 0.2), ylim=(-2 * height - 0.1, HEIGHT + 0.4), aspect="equal")
    ax.axis("off")
    fig.subplots_adjust(0.005, 0.01, 0.995, 0.99)
    fig.canvas.draw()
    image = Image.fromarray(np.asarray(fig.canvas.buffer_rgba())[..., :3]).quantize(64)
    image.save(Path(__file__).with_name("internals.png"), optimize=True)


if __name__ == "__main__":
    main()
