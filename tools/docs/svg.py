"""A small writer of SVG pictures that follow the reader's light or dark mode.

Colours are CSS variables with a value for each mode, so one file serves both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

LIGHT = {
    "ink": "#1f2328", "soft": "#59636e", "line": "#818b98", "box": "#f6f8fa", "edge": "#d1d9e0",
    "paper": "#ffffff", "a": "#0969da", "b": "#1a7f37", "c": "#8250df", "d": "#bc4c00",
}  # fmt: skip
DARK = {
    "ink": "#f0f6fc", "soft": "#9198a1", "line": "#656c76", "box": "#151b23", "edge": "#3d444d",
    "paper": "#0d1117", "a": "#4493f8", "b": "#3fb950", "c": "#ab7df8", "d": "#f0883e",
}  # fmt: skip
FONT = "-apple-system,'Segoe UI',Helvetica,Arial,sans-serif"


def _variables(colors: Mapping[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in colors.items())


class Picture:
    """An SVG of a width and a height, in pixels; things are drawn in the order they are added."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height, self.title = width, height, title
        self.parts: list[str] = []

    def box(
        self, x: float, y: float, width: float, height: float, fill: str = "box", edge: str = "edge"
    ) -> None:
        """A rectangle with round corners."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6"'
            f' fill="var(--{fill})" stroke="var(--{edge})"/>'
        )

    def bar(self, x: float, y: float, width: float, height: float, fill: str) -> None:
        """A filled rectangle."""
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:g}" width="{width:.1f}" height="{height:g}"'
            f' fill="var(--{fill})"/>'
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: int = 13,
        color: str = "ink",
        anchor: str = "start",
        weight: str = "normal",
        mono: bool = False,
    ) -> None:
        """A line of text whose baseline is at y."""
        family = ' font-family="ui-monospace,Menlo,Consolas,monospace"' if mono else ""
        bold = f' font-weight="{weight}"' if weight != "normal" else ""
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="var(--{color})"'
            f' text-anchor="{anchor}"{bold}{family}>{escape(text, quote=False)}</text>'
        )

    def line(self, points: Sequence[tuple[float, float]], *, arrow: bool = False) -> None:
        """A line through the points, with a head at its end if it is an arrow."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        head = ' marker-end="url(#head)"' if arrow else ""
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="var(--line)" stroke-width="1.3"{head}/>'
        )

    def __str__(self) -> str:
        head = (
            '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7"'
            ' orient="auto"><path d="M0 0 8 4 0 8z" fill="var(--line)"/></marker>'
        )
        style = (
            f":root{{{_variables(LIGHT)}}}"
            f"@media(prefers-color-scheme:dark){{:root{{{_variables(DARK)}}}}}"
        )
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}"'
                f' width="{self.width}" height="{self.height}" font-family="{FONT}" role="img">',
                f"<title>{escape(self.title)}</title>",
                f"<style>{style}</style>",
                f"<defs>{head}</defs>",
                f'<rect width="{self.width}" height="{self.height}" fill="var(--paper)"/>',
                *self.parts,
                "</svg>\n",
            ]
        )
