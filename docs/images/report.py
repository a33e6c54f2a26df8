"""Draws report.png and report_columns.png: the report of a model of generated houses, in a browser without a window.

It needs `make .venv/.browser`. Run it from the root of the project:  python docs/images/report.py
"""

import pathlib
import tempfile

import numpy as np
import pandas as pd
from playwright.sync_api import sync_playwright

import mercer

HERE = pathlib.Path(__file__).parent


def houses(n: int = 3000, seed: int = 0) -> pd.DataFrame:
    """Houses whose price depends on area, district, age, distance and the season, with interactions and noise."""
    rng = np.random.default_rng(seed)
    area = rng.gamma(9.0, 13.0, n)
    district = rng.choice(["Center", "Harbor", "Hills", "Old town", "Suburb"], n, p=[0.2, 0.15, 0.1, 0.2, 0.35])
    age, distance = rng.integers(0, 120, n), rng.gamma(2.0, 2.5, n)
    sold = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 1460, n), unit="D")
    level = pd.Series(district).map({"Center": 5.2, "Harbor": 4.6, "Hills": 5.6, "Old town": 4.4, "Suburb": 3.1})
    per_meter = level + 0.8 * np.exp(-distance / 3) - 0.012 * np.minimum(age, 60) + 0.02 * np.maximum(age - 80, 0)
    per_meter += 0.35 * np.sin((sold.day_of_year - 80) / 365 * 2 * np.pi) + 0.15 * (sold.year - 2021)
    heating = rng.choice(["gas", "heat pump", "oil", "wood"], n, p=[0.45, 0.3, 0.2, 0.05])
    per_meter += pd.Series(heating).map({"gas": 0.0, "heat pump": 0.3, "oil": -0.3, "wood": 0.0})
    price = 1000 * area * per_meter * np.exp(0.09 * rng.normal(size=n))
    area_known = np.where(rng.random(n) < 0.02, np.nan, area.round(1))
    return pd.DataFrame(
        {
            "area": area_known,
            "rooms": np.maximum(1, (area / 26 + rng.normal(size=n) * 0.7).round()),
            "district": district,
            "age": age,
            "distance_to_center": distance.round(2),
            "heating": heating,
            "sold": sold,
            "price": price.round(-2),
        }
    )


def main() -> None:
    model = mercer.fit(houses(), "price")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as browsers:
        path = pathlib.Path(folder) / "houses.report.html"
        model.report_html(path)
        browser = browsers.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 860}, reduced_motion="reduce")
        page.goto(path.as_uri())
        page.screenshot(path=HERE / "report.png")
        page.locator("#columns h3").first.evaluate("heading => heading.scrollIntoView()")
        page.evaluate("window.scrollBy(0, -80)")
        page.screenshot(path=HERE / "report_columns.png")
        browser.close()


if __name__ == "__main__":
    main()
