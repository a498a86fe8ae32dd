"""The page in a real browser: light, pins, search, themes, and what it must never do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.explorer import Explanation
from mytriton.layouts.linear import Layout, ravel
from mytriton.layouts.picture import holders_of
from tests.explorer.browser import MISSING, Watched, chromium
from tests.explorer.kernels import scale

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)
Open = Any


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as made:
        yield made


@pytest.fixture(scope="module")
def explained() -> Explanation:
    x, factor = np.ones(100, np.float32), np.ones(1, np.float32)
    return scale.explain(x, np.empty_like(x), 100, factor, BLOCK=128)


@pytest.fixture
def opened(browser: Any, explained: Explanation, tmp_path: Path) -> Iterator[Open]:
    """Opens the page at a fragment; in the end nothing may have gone wrong on it."""
    file = explained.save(tmp_path / "page.html")
    pages: list[Watched] = []

    def open_page(fragment: str = "#python,order,cuda,asm", **options: Any) -> Watched:
        pages.append(Watched(browser, file, fragment, **options))
        return pages[-1]

    yield open_page
    for watched in pages:
        assert watched.faults == []
        watched.page.close()


def test_a_line_under_the_pointer_lights_its_kin(opened: Open) -> None:
    page = opened()
    page.line("python", "return x * x").hover()
    (product,) = page.lit("order")
    assert product.strip() == "%12 = mul %11, %11 : vector<128 x f32>"
    assert any(" * " in text for text in page.lit("cuda"))
    assert page.lit("asm")
    page.line("order", "store").hover()
    assert [text.strip()[:8] for text in page.lit("python")] == ["tl.store"]


def test_callers_are_lit_as_such(opened: Open) -> None:
    page = opened()
    page.line("order", "= mul %11").hover()
    assert [text.strip() for text in page.lit("python", "kin")] == ["return x * x"]
    (caller,) = page.lit("python", "via")
    assert "squared(value)" in caller
    status = page.page.locator("#status").text_content()
    assert "in squared, called from line" in status


def test_what_was_made_of_a_line_is_told_from_its_kin(opened: Open) -> None:
    page = opened("#python,llvm,asm")
    page.line("llvm", "= fmul").hover()
    near = page.lit("asm", "near")
    assert any("mul" in text or "add" in text for text in near)  # x * 2 is x + x
    assert len(near) < len(page.lit("asm"))


def test_a_click_pins_and_another_lets_go(opened: Open) -> None:
    page = opened()
    page.line("python", "return x * x").click()
    page.line("python", "tl.program_id").hover()
    assert "mul" in page.lit("order")[0]
    assert re.search(r"#python,order,cuda,asm/python:1\.\d+$", page.page.url)
    page.page.keyboard.press("Escape")
    assert page.lit("order") == []
    page.line("python", "return x * x").click()
    page.line("python", "return x * x").click()
    assert page.page.locator(".pinned").count() == 0


def test_a_link_to_a_line_shows_and_pins_it(opened: Open) -> None:
    page = opened("#cuda:4")
    assert page.page.locator('.pane[data-column="cuda"] .pinned').get_attribute("data-line") == "3"
    page = opened("#python,ptx/python:0.15")
    shown = page.page.locator(".pane").evaluate_all("panes => panes.map(p => p.dataset.column)")
    assert shown == ["python", "ptx"]
    assert page.page.locator(".pinned .number").text_content() == "15"


def test_search_finds_in_all_shown_columns(opened: Open) -> None:
    page = opened()
    page.page.keyboard.press("/")
    page.page.keyboard.type("FACTOR")
    hits = page.page.locator(".line.hit")
    columns = hits.evaluate_all("rows => rows.map(r => r.closest('.pane').dataset.column)")
    assert list(dict.fromkeys(columns)) == ["python", "order", "cuda"]
    assert page.page.locator("#hits").text_content() == f"{hits.count()} lines"
    page.page.keyboard.press("Enter")
    assert page.page.locator("#hits").text_content() == f"1 of {hits.count()}"
    page.page.keyboard.press("Escape")
    assert hits.count() == 0


def test_the_keyboard_does_all_that_the_pointer_does(opened: Open) -> None:
    page = opened()
    page.page.locator('.pane[data-column="order"] .lines').focus()
    for _ in range(4):
        page.page.keyboard.press("ArrowDown")
    assert page.lit("order", "near")[0].strip().startswith("%2 = arange")
    page.page.keyboard.press("Enter")
    assert page.page.locator(".pinned").count() == 1
    assert page.page.url.endswith("order:4")


def test_columns_are_chosen(opened: Open) -> None:
    page = opened()
    page.page.locator('#choices button[data-column="ptx"]').click()
    page.page.locator('#choices button[data-column="asm"]').click()
    shown = page.page.locator(".pane").evaluate_all("panes => panes.map(p => p.dataset.column)")
    assert shown == ["python", "order", "cuda", "ptx"]
    assert page.page.url.endswith("#python,order,cuda,ptx")


def test_what_a_pass_did_is_said_without_colour(opened: Open) -> None:
    page = opened("#python,hoist")
    moved = page.page.locator('.pane[data-column="hoist"] .line.moved')
    assert moved.count() == 2
    assert moved.first.locator(".mark").text_content() == "↕"
    page.page.get_by_role("button", name="hoisted load").click()
    assert "tl.load(factor)" in page.page.locator(".pinned code").text_content()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1500, 400])
def test_nobody_is_shut_out(opened: Open, scheme: str, width: int) -> None:
    """axe finds no fault, in both themes, on wide and narrow screens, with a pin and hits."""
    from axe_playwright_python.sync_playwright import Axe

    page = opened(
        "#python,hoist,cuda,sass/python:0.17",
        color_scheme=scheme,
        viewport={"width": width, "height": 900},
    )
    page.page.locator("#search").fill("load")
    found = Axe().run(page.page)
    assert found.violations_count == 0, found.generate_report()
    page.page.get_by_role("button", name="Keys and signs").click()
    found = Axe().run(page.page)
    assert found.violations_count == 0, found.generate_report()


def test_the_theme_is_the_readers(opened: Open) -> None:
    page = opened(color_scheme="dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    dark = page.page.evaluate(colour)
    page.page.keyboard.press("t")
    light = page.page.evaluate(colour)
    page.page.keyboard.press("t")
    assert page.page.evaluate(colour) == dark != light


def test_a_narrow_screen_has_no_sideways_scroll(opened: Open) -> None:
    page = opened(viewport={"width": 360, "height": 700})
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_it_prints_whole(opened: Open) -> None:
    page = opened("#python,cuda")
    page.page.emulate_media(media="print")
    clipped = page.page.locator(".lines").evaluate_all(
        "all => all.filter(l => l.scrollHeight > l.clientHeight + 1).length"
    )
    assert clipped == 0
    assert page.page.locator("#search").is_hidden()


# -- hostile names


HOSTILE = "</script><img src=x onerror=alert(1)>\"'&\u202e\u2066<!--"


def test_hostile_text_stays_text(browser: Any, tmp_path: Path) -> None:
    """A file, and text in a kernel, that would end a script, an attribute or the reading order."""
    folder = tmp_path / HOSTILE.replace("/", "_")
    folder.mkdir()
    file = folder / "kernels.py"
    file.write_text(
        "import mytriton as triton\nimport mytriton.language as tl\n\n\n@triton.jit\n"
        "def kernel(x, n: tl.constexpr):\n"
        f"    tl.device_print({HOSTILE!r}, tl.load(x))  # {HOSTILE}\n"
        f"    tl.store(x, 1.0)  # \u202e\n",
        encoding="utf-8",
    )
    namespace: dict[str, Any] = {}
    exec(compile(file.read_text("utf-8"), str(file), "exec"), namespace)
    explained = namespace["kernel"].explain(np.ones(4, np.float32), HOSTILE)
    html = explained.html
    assert html.count("</script>") == 2
    assert "<img" not in html
    watched = Watched(browser, explained.save(tmp_path / "page.html"), "#python,order,cuda,llvm")
    page = watched.page
    assert page.locator("img").count() == 0
    assert repr(HOSTILE) in page.locator(".arguments").text_content()
    assert "U+202E" in watched.line("python", "tl.store").locator("code").text_content()
    shown = "".join(page.locator(".line code").all_text_contents())
    assert "</script><img" in shown
    assert "\u202e" not in shown
    assert watched.faults == []
    page.close()


def test_a_notebook_shows_it_in_a_frame(browser: Any, explained: Explanation) -> None:
    page = browser.new_page()
    page.set_content(f"<p>before</p>{explained._repr_html_()}")
    frame = page.frame_locator("iframe")
    frame.locator(".pane").first.wait_for()
    assert frame.locator("h1").text_content() == "scale"
    page.close()


# -- large kernels


def long_kernel(statements: int) -> str:
    """The text of a kernel of so many lines."""
    lines = [f"    v = v * {1 + k % 7}.5 + tl.load(x + {k})\n" for k in range(statements)]
    return "".join(["def kernel(x):\n    v = 0.0\n", *lines, "    tl.store(x, v)\n"])


def test_two_thousand_lines_scroll_smoothly(browser: Any, tmp_path: Path) -> None:
    """Only rows near the screen are laid out, a wheel's turn is shown within a few frames, and the
    light follows."""
    file = tmp_path / "long.py"
    head = "import mytriton as triton\nimport mytriton.language as tl\n@triton.jit\n"
    file.write_text(head + long_kernel(2000), encoding="utf-8")
    namespace: dict[str, Any] = {"triton": triton, "tl": tl}
    exec(compile(file.read_text("utf-8"), str(file), "exec"), namespace)
    explained = namespace["kernel"].explain(np.ones(2000, np.float32))
    assert len(explained.document.sources[0].lines) > 2000
    watched = Watched(browser, explained.save(tmp_path / "p.html"), "#python,order,cuda,asm")
    frames = watched.page.evaluate(SCROLL)
    assert sorted(frames)[len(frames) // 2] < 100, frames
    blocks = watched.page.locator(".block").evaluate_all(LAID_OUT)
    assert blocks.count(True) < 30 < 200 < len(blocks)
    watched.line("python", "tl.load(x + 1999)").hover()
    assert watched.lit("order")
    assert watched.faults == []
    watched.page.close()


SCROLL = """async () => {
  const body = document.querySelector('.pane[data-column="asm"] .lines');
  const frame = () => new Promise(requestAnimationFrame);
  const times = [];
  for (let turn = 0; turn < 60; turn += 1) {
    const start = performance.now();
    body.scrollTop += 120;
    await frame();
    await frame();
    times.push(performance.now() - start);
  }
  return times;
}"""
LAID_OUT = """blocks => blocks.map(
  block => block.firstElementChild.checkVisibility({ contentVisibilityAuto: true })
)"""


# -- the other views


@triton.jit
def tiles(x, out, n, BLOCK: tl.constexpr):
    i, j = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    at = tl.program_id(0) * BLOCK * BLOCK + i * BLOCK + j
    value = tl.load(x + at, mask=at < n, other=0.0)
    turned = tl.load(x + j * BLOCK + i)
    tl.store(out + at, value + tl.dot(turned, turned), mask=at < n)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    x, out = np.ones(600, np.float32), np.zeros(1000, np.float32)
    explained = tiles.explain(x, out, 600, grid=(3,), BLOCK=16)
    return explained.save(tmp_path_factory.mktemp("pages") / "tiles.html")


@pytest.mark.parametrize("view", ["costs", "accesses", "layouts"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_views_shut_nobody_out(browser: Any, recorded: Path, view: str, scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    for width in (1500, 400):
        size = {"width": width, "height": 900}
        watched = Watched(browser, recorded, f"#{view}", color_scheme=scheme, viewport=size)
        found = Axe().run(watched.page)
        assert found.violations_count == 0, found.generate_report()
        assert watched.page.evaluate("document.documentElement.scrollWidth") <= width
        assert watched.faults == []
        watched.page.close()


def test_costs_lead_back_to_the_code(browser: Any, recorded: Path) -> None:
    watched = Watched(browser, recorded, "#costs")
    page = watched.page
    rows = page.locator("table.accesses tbody tr")
    assert rows.count() == 3
    assert "contiguous" in rows.nth(0).text_content()
    page.locator("table.accesses tbody a").first.click()
    assert "turned = tl.load" in page.locator(".pinned code").text_content()
    assert page.locator("#costs").is_hidden()
    page.get_by_role("button", name="Why slow?").click()
    assert page.url.endswith("#costs")
    assert page.locator("svg.roofline").is_visible()
    assert watched.faults == []
    page.close()


def test_costs_of_a_kernel_without_floats(browser: Any, tmp_path: Path) -> None:
    """No operations on floats, or nothing touched at all: there is no point under the roof."""

    @triton.jit
    def count(x, n):
        i = tl.arange(0, 32)
        tl.store(x + i, i + n, mask=i < n)

    for n in (7, 0):
        page = tmp_path / f"{n}.html"
        count.explain(np.zeros(32, np.int32), n, grid=(1,)).save(page)
        for view in ("#costs", "#accesses", "#layouts"):
            watched = Watched(browser, page, view)
            assert watched.page.locator("svg.roofline").count() == 0
            assert watched.faults == []
            watched.page.close()


def test_accesses_program_by_program(browser: Any, recorded: Path) -> None:
    watched = Watched(browser, recorded, "#accesses")
    page = watched.page
    card = page.locator("#accesses .card").nth(1)
    assert "400 of 1000 elements are never touched, the first is (600)" in card.text_content()
    canvas = card.locator("canvas")
    canvas.focus()
    page.keyboard.press("ArrowRight")
    said = card.locator("output.said")
    assert said.text_content() == "out(0): written by (0, 0, 0)"
    for _ in range(10):
        page.keyboard.press("ArrowDown")
    assert said.text_content() == "out(640): never touched"
    before = canvas.evaluate("c => c.toDataURL()")
    page.get_by_role("button", name="The next program").click()
    assert page.locator(".programs output").text_content() == "(1, 0, 0)"
    assert canvas.evaluate("c => c.toDataURL()") != before
    assert watched.faults == []
    page.close()


def test_layouts_say_who_holds_an_element(browser: Any, recorded: Path) -> None:
    """The page's arithmetic over F2 is that of `layouts/linear.py`."""
    watched = Watched(browser, recorded, "#layouts")
    found = watched.page.evaluate(HOLDERS)
    assert found
    for card, holders in found:
        shape, register, lane, warp = card
        layout = Layout(tuple(shape), tuple(register), tuple(lane), tuple(warp))
        for place, said in holders:
            index = ravel(place, layout.shape)
            thread, number = holders_of(layout)[index][0]
            assert said.startswith(
                f"element ({', '.join(map(str, place))}): warp {thread // 32}, lane {thread % 32},"
                f" register {number}"
            )
    assert watched.faults == []
    watched.page.close()


HOLDERS = """() => {
  const model = JSON.parse(document.getElementById("document").textContent);
  return [...document.querySelectorAll("#layouts .card[id]")].map((card) => {
    const layout = model.layouts[Number(card.id.split("-")[1])];
    const inputs = [...card.querySelectorAll("form input")];
    const asked = [0, 1, 2, 3].map((k) => {
      const place = inputs.map((input, axis) => (k * 5 + axis * 3) % layout.shape[axis]);
      inputs.forEach((input, axis) => { input.value = place[axis]; });
      inputs[0].dispatchEvent(new Event("input", { bubbles: true }));
      return [place, card.querySelector("output.said").textContent];
    });
    return [[layout.shape, layout.register, layout.lane, layout.warp], asked];
  });
}"""
