"""The page of `mercer explore` in a real browser."""

import base64
import contextlib
import io
import os
import re
import subprocess
import sys
import warnings
from xml.etree import ElementTree

import numpy as np
import pytest

from mercer.explore.answers import answer
from mercer.explore.presets import PRESETS

LONG = os.environ.get("MERCER_TEST_LENGTH") == "long"
FEW = (
    "parabolic-ball",
    "penalty-and-bandwidth",
    "approximation-error",
    "black-hole",
    "ordinary-and-special",
    "lasso-path",
)
SHOWN = [preset for preset in PRESETS if LONG or preset.name in FEW]
LOOKS = [(390, "dark"), (820, "light"), (1440, "dark"), (390, "light"), (820, "dark"), (1440, "light")]


def executed(code):
    names = {}
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # similarities that are not Mercer, perceptrons that do not converge
        exec(compile(code, "copied", "exec"), names)
    return names


@pytest.mark.parametrize("preset", SHOWN, ids=lambda preset: preset.name)
def test_preset_shows_what_the_library_computes(explore_page, preset):
    opened = explore_page().open(f"#preset={preset.name}")
    assert opened.page.locator("#preset-title").inner_text() == preset.title
    assert opened.page.locator("#preset-text").inner_text() == preset.text
    opened.page.click("#python")
    opened.page.locator("#python-dialog[open]").wait_for()
    names = executed(opened.page.locator("#python-code").inner_text())
    if preset.topic != "plane":
        found = opened.answer("panels")["result"]
        np.testing.assert_allclose(np.ravel(names["result"]), found, rtol=2e-6, atol=1e-6 * (1 + np.abs(found).max()))
        return
    found = opened.answer("boundary")
    np.testing.assert_allclose(
        names["scores"], found["scores"], rtol=2e-6, atol=1e-6 * (1 + np.abs(found["scores"]).max())
    )
    if "model" in names:
        axis = np.linspace(-found["limit"], found["limit"], found["size"])
        grid = np.frombuffer(base64.b64decode(found["grid"]), "<f4").reshape(found["size"], found["size"])
        places = np.random.default_rng(0).integers(found["size"], size=(20, 2))
        model = names["model"]
        score = model.decision_function if hasattr(model, "decision_function") else model.predict
        expected = score(np.array([[axis[j], axis[i]] for i, j in places]))
        np.testing.assert_allclose(
            grid[places[:, 0], places[:, 1]], expected, rtol=1e-4, atol=1e-5 * (1 + np.abs(expected).max())
        )


@pytest.mark.parametrize("look", LOOKS if LONG else LOOKS[:3], ids=lambda look: f"{look[0]}-{look[1]}")
@pytest.mark.parametrize("preset", SHOWN if LONG else SHOWN[:2], ids=lambda preset: preset.name)
def test_preset_fits_every_width_and_theme(explore_page, preset, look):
    opened = explore_page(*look).open(f"#preset={preset.name}")
    assert opened.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert opened.page.evaluate("document.documentElement.dataset.theme") == look[1]
    sizes = opened.page.evaluate(
        "[...document.querySelectorAll('.card:not([hidden]) canvas')].map((canvas) => [canvas.width, canvas.height])"
    )
    assert sizes
    assert all(width >= 200 and height >= 120 for width, height in sizes)


def test_field_has_the_colors_of_the_classes(explore_page):
    opened = explore_page().open("#preset=parabolic-ball")
    box = opened.page.locator(".card.large canvas").bounding_box()
    side = min(box["width"], box["height"]) - 42
    left = 34 + max(0, (box["width"] - 42 - side) / 2)
    colors = opened.page.evaluate(
        """([center, corner]) => {
          const shown = document.querySelector('.card.large canvas');
          const canvas = new OffscreenCanvas(shown.width, shown.height);
          const context = canvas.getContext('2d', { willReadFrequently: true });
          context.drawImage(shown, 0, 0);
          return [center, corner].map(([x, y]) => [...context.getImageData(x, y, 1, 1).data]);
        }""",
        [[left + 0.52 * side, 8 + 0.52 * side], [left + 0.97 * side, 8 + 0.03 * side]],
    )
    inside, outside = colors
    assert inside[2] > inside[0]  # blue, the class 1
    assert outside[0] > outside[2]  # orange, the class -1


def position_of(opened, index):
    """The place of a point on the screen."""
    found = opened.answer("boundary")
    x, y, _ = found["points"][index]
    box = opened.page.locator(".card.large canvas").bounding_box()
    side = min(box["width"] - 42, box["height"] - 42)
    left = 34 + max(0, (box["width"] - 42 - side) / 2)
    limit = found["limit"]
    return (
        box["x"] + left + (x + limit) / (2 * limit) * side,
        box["y"] + 8 + (limit - y) / (2 * limit) * side,
        side / (2 * limit),
    )


def test_dragging_a_point_is_one_step_that_can_be_undone(explore_page):
    opened = explore_page().open("#preset=parabolic-ball")
    mouse, before = opened.page.mouse, opened.answer("boundary")["points"][3]
    entries = opened.page.evaluate("history.length")
    x, y, scale = position_of(opened, 3)
    mouse.move(x, y)
    mouse.down()
    for step in range(1, 9):
        mouse.move(x + 5 * step, y - 4 * step)
    mouse.up()
    opened.settle()
    assert opened.page.evaluate("history.length") == entries + 1
    topic, state = opened.state
    assert topic == "plane"
    np.testing.assert_allclose(state["points"][3][:2], [before[0] + 40 / scale, before[1] + 32 / scale], atol=0.01)
    library = answer("boundary", {"topic": "plane", "state": state})
    assert opened.answer("boundary")["scores"] == library["scores"]
    opened.page.click("#undo")
    opened.settle()
    assert opened.page.evaluate("location.hash") == "#preset=parabolic-ball"
    assert opened.answer("boundary")["points"][3] == before
    opened.page.click("#redo")
    opened.settle()
    assert opened.answer("boundary")["points"][3] == state["points"][3]


def test_points_are_added_relabeled_and_deleted_with_the_mouse(explore_page):
    opened = explore_page().open("#preset=parabolic-complement")
    n = len(opened.answer("boundary")["points"])
    x, y, scale = position_of(opened, 0)
    opened.page.get_by_role("radio", name="Relabel").click()
    opened.page.mouse.click(x, y)
    opened.settle()
    assert opened.answer("boundary")["points"][0][2] == 1
    opened.page.get_by_role("radio", name="Add ◆").click()
    opened.page.mouse.click(x + 0.3 * scale, y + 0.2 * scale)
    opened.settle()
    assert len(opened.answer("boundary")["points"]) == n + 1
    opened.page.get_by_role("radio", name="Delete").click()
    opened.page.mouse.click(x, y)
    opened.settle()
    assert len(opened.answer("boundary")["points"]) == n


def test_landmarks_are_dragged(explore_page):
    opened = explore_page().open("#preset=black-hole")
    found = opened.answer("boundary")
    box = opened.page.locator(".card.large canvas").bounding_box()
    side = min(box["width"] - 42, box["height"] - 42)
    x, y = box["x"] + 34 + max(0, (box["width"] - 42 - side) / 2) + side / 2, box["y"] + 8 + side / 2
    opened.page.mouse.move(x, y)
    opened.page.mouse.down()
    opened.page.mouse.move(x + 30, y, steps=4)
    opened.page.mouse.up()
    opened.settle()
    assert opened.state[1]["landmarks"][0][0] == pytest.approx(30 * 2 * found["limit"] / side, abs=0.02)
    assert opened.answer("boundary")["scores"] != found["scores"]


def test_shared_link_shows_the_same(explore_page):
    first = explore_page().open("#preset=few-random-features")
    first.page.select_option("#field-data", "moons")
    first.settle()
    first.page.click("#share")
    link = first.page.evaluate("navigator.clipboard.readText()")
    second = explore_page().open(link.rpartition("#")[1] + link.rpartition("#")[2])
    assert second.answer("boundary") == first.answer("boundary")
    assert second.tile("test error") == first.tile("test error")


def test_copied_code_is_in_the_clipboard_and_runs(explore_page):
    opened = explore_page().open("#preset=sums-and-products")
    opened.page.fill("input[aria-label^='Penalty']", "0.05")
    opened.page.keyboard.press("Tab")
    opened.settle()
    opened.page.click("#python")
    opened.page.wait_for_selector("#toast.shown")
    code = opened.page.evaluate("navigator.clipboard.readText()")
    assert "alpha=0.05" in code
    np.testing.assert_allclose(executed(code)["scores"], opened.answer("boundary")["scores"], rtol=1e-6, atol=1e-6)


def test_views_are_saved_as_png_and_svg(explore_page, tmp_path):
    opened = explore_page().open("#preset=parabolic-ball")
    for card, name in (("Decision boundary", "boundary"), ("Lifted space", "space"), ("Gram matrix", "gram")):
        for kind in ("PNG", "SVG"):
            with opened.page.expect_download() as waiting:
                opened.page.get_by_role("button", name=f"Save “{card}” as {kind}").click()
            path = tmp_path / f"{name}.{kind.lower()}"
            waiting.value.save_as(path)
            if kind == "PNG":
                assert path.read_bytes().startswith(b"\x89PNG")
            else:
                root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
                assert root.tag.endswith("svg")
                assert len(list(root.iter())) > 20


def test_keyboard_alone_is_enough(explore_page):
    opened = explore_page().open("#preset=parabolic-complement")
    page = opened.page
    page.focus("#preset")
    page.focus(".card.large canvas")
    page.keyboard.press("n")
    page.keyboard.press("n")
    page.keyboard.press("Shift+ArrowRight")
    opened.settle()
    opened.until("location.hash.includes('state=')")
    page.wait_for_timeout(900)  # the gesture ends when no key follows
    before = opened.answer("boundary")["points"]
    assert opened.state[1]["points"][1][0] == pytest.approx(0.284 + 0.2)
    page.keyboard.press("r")
    assert page.locator("#announcements").inner_text() == "Point 2 has the other class now"
    opened.settle()
    assert opened.answer("boundary")["points"][1][2] == -before[1][2]
    page.keyboard.press("Delete")
    opened.settle()
    assert len(opened.answer("boundary")["points"]) == len(before) - 1
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("a")
    opened.settle()
    assert opened.answer("boundary")["points"][-1] == [0, 0.05, 1]
    assert page.locator("#announcements").inner_text() == "A point is added"
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll('button, select, input, textarea')].filter((each) =>
          !each.innerText?.trim() && !each.getAttribute('aria-label') &&
          !document.querySelector(`label[for="${each.id}"]`)).length"""
    )
    assert unnamed == 0


def test_every_control_is_reached_by_tab(explore_page):
    opened = explore_page().open("#preset=few-random-features")
    wanted = set(
        opened.page.evaluate(
            "[...document.querySelectorAll('#controls input, #controls select')].map((e) => e.id).filter(Boolean)"
        )
    )
    reached = set()
    opened.page.focus("#theme")
    for _ in range(60):
        opened.page.keyboard.press("Tab")
        reached.add(opened.page.evaluate("document.activeElement.id"))
    assert wanted <= reached


def test_rapid_changes_leave_no_backlog(explore_page):
    opened = explore_page().open("#preset=gaussian-boundary")
    opened.requests.clear()
    opened.page.evaluate(
        """async () => {
          const slider = document.getElementById('kernel-0-bandwidth');
          for (let k = 0; k < 50; k++) {
            slider.value = String(100 + 4 * k);
            slider.dispatchEvent(new Event('input', { bubbles: true }));
            await new Promise((done) => setTimeout(done, 4));
          }
          slider.dispatchEvent(new Event('change', { bubbles: true }));
        }"""
    )
    opened.settle()
    asked = [url for url in opened.requests if url.endswith("/boundary")]
    assert 1 <= len(asked) < 50
    _, state = opened.state
    library = answer("boundary", {"topic": "plane", "state": state})
    assert opened.answer("boundary")["scores"] == library["scores"]
    count = len(opened.requests)
    opened.page.wait_for_timeout(600)
    assert len(opened.requests) == count


def test_steps_are_played(explore_page):
    opened = explore_page().open("#preset=kernelized-perceptron")
    text = opened.page.locator(".answer")
    assert text.inner_text().startswith("Largest difference")
    opened.page.get_by_role("button", name="One step forward").click()
    opened.settle()
    assert "Step 7 of" in text.inner_text()
    opened.page.get_by_role("button", name="Play").click()
    opened.until("document.querySelector('.answer').textContent.includes('Step 9 of')")
    opened.page.get_by_role("button", name="Pause").click()
    opened.settle()


def test_weights_are_set_by_hand(explore_page):
    opened = explore_page().open("#preset=find-the-hyperplane")
    for index, value in ((0, "0"), (1, "2"), (2, "0"), (3, "-1")):
        opened.page.fill(f"#field-w{index} + input", value)
        opened.page.keyboard.press("Tab")
        opened.settle()
    points = np.array(opened.answer("boundary")["points"])
    scores = np.array(opened.answer("boundary")["scores"])
    np.testing.assert_array_equal(scores > 0, 2 * np.exp(-np.sum((points[:, :2] - [0, 0.8]) ** 2, axis=1) / 0.5) > 1)


def test_own_points_come_from_the_file_or_a_pasted_table(explore_page):
    opened = explore_page().open("#preset=parabolic-ball")
    page = opened.page
    page.get_by_role("button", name="Own points…").click()
    assert "flowers.csv: " in page.locator("dialog .columns").inner_text()
    page.get_by_role("button", name="Show these points").click()
    opened.until("location.hash.includes('state=')")
    opened.settle()
    assert opened.state[1]["x_name"] == "length"
    assert "rose" in page.locator("#preset-text").inner_text()
    page.get_by_role("button", name="Own points…").click()
    page.fill("dialog textarea", "a\tb\tc\n" + "".join(f"{i % 5}\t{i % 7}\t{i % 2}\n" for i in range(40)))
    page.get_by_role("button", name="Read the table").click()
    page.get_by_text("pasted table: ").wait_for()
    before = page.evaluate("location.hash")
    page.get_by_role("button", name="Show these points").click()
    opened.until(f"location.hash !== {before!r}")
    opened.settle()
    assert opened.state[1]["y_name"] == "b"


def test_map_leads_to_the_cell_that_is_clicked(explore_page):
    opened = explore_page().open("#preset=penalty-and-bandwidth")
    card = opened.page.locator(".card", has_text="Click a cell").locator("canvas")
    box = card.bounding_box()
    card.click(
        position={"x": 62 + 0.5 * (box["width"] - 74) / 9, "y": box["height"] - 40 - 0.5 * (box["height"] - 50) / 7}
    )
    opened.settle()
    _, state = opened.state
    assert state["alpha"] == pytest.approx(1e-4)
    assert state["kernel"][0]["bandwidth"] == pytest.approx(0.05)


def test_wrong_fragments_open_the_first_page(explore_page):
    for fragment in ("#preset=nothing", "#topic=plane&state=%%%", "#topic=nothing&state=e30", "#state=1"):
        opened = explore_page().open(fragment)
        assert opened.page.locator("#preset-title").inner_text()


def test_refused_state_shows_the_reason(explore_page):
    opened = explore_page().open("#preset=parabolic-ball")
    opened.page.get_by_role("button", name="Own points…").click()
    opened.page.get_by_role("button", name="Empty plane").click()
    opened.page.get_by_text("needs points of both classes").wait_for()
    opened.complaints[:] = [each for each in opened.complaints if "422" not in each]  # the browser reports the refusal


def test_exported_page_draws_all_presets_without_a_server(browser, tmp_path):
    path = tmp_path / "page.html"
    command = [sys.executable, "-m", "mercer", "explore", "--export", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    context = browser.new_context(offline=True)
    page = context.new_page()
    complaints, urls = [], []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: urls.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector("body[data-state=idle]", timeout=60_000)
    drawn = page.evaluate(
        "[...document.querySelectorAll('section')].map((each) => each.querySelectorAll('figure').length)"
    )
    assert len(drawn) == len(PRESETS)
    assert min(drawn) >= 1
    assert complaints == []
    assert {re.match("[a-z]+", url)[0] for url in urls} <= {"file", "data"}
    context.close()


def test_kernels_are_added_and_edited(explore_page):
    opened = explore_page().open("#preset=gaussian-boundary")
    page = opened.page
    page.fill("#kernel-0-bandwidth-number", "0.3")
    page.keyboard.press("Tab")
    opened.settle()
    page.get_by_role("button", name="Add a kernel").click()
    page.select_option("#kernel-1-name", "Polynomial")
    page.fill("#kernel-1-degree-number", "3")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "kernel-1-offset"  # a change keeps the place of the keyboard
    page.fill("#kernel-1-weight-number", "0.5")
    page.keyboard.press("Tab")
    page.select_option("#kernel-1-join", "*")
    opened.settle()
    first, second = opened.state[1]["kernel"]
    assert first["bandwidth"] == 0.3
    assert (second["name"], second["degree"], second["weight"], second["operation"]) == ("Polynomial", 3, 0.5, "*")
    page.click("#python")
    page.locator("#python-dialog[open]").wait_for()
    code = page.locator("#python-code").inner_text()
    assert "Gaussian(bandwidth=0.3) * 0.5 * Polynomial(degree=3" in code
    np.testing.assert_allclose(executed(code)["scores"], opened.answer("boundary")["scores"], rtol=1e-6, atol=1e-6)


def test_weights_by_hand_start_from_the_fit(explore_page):
    opened = explore_page().open("#preset=parabolic-ball")
    fitted = opened.answer("boundary")["weights"]
    opened.page.select_option("#field-learner", "hand")
    opened.settle()
    np.testing.assert_allclose(
        opened.state[1]["weights"], np.clip([*fitted["values"], fitted["intercept"]], -5, 5), atol=0.006
    )
    assert opened.page.locator("#field-w3").count() == 1


def test_settings_come_up_on_a_narrow_screen(explore_page):
    opened = explore_page(390).open("#preset=parabolic-ball")
    opened.page.click("#settings")
    assert opened.page.locator("#field-alpha").bounding_box()["y"] < 900 * 2
    opened.page.select_option("#field-data", "moons")
    opened.settle()
    assert opened.state[1]["data"] == "moons"
    assert opened.page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
