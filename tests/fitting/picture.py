"""The calibration picture: what is told against what happened, as SVG by plain code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Point = tuple[float, float, int]

_SIDE, _LEFT, _TOP = 320, 56, 20
_WIDTH, _HEIGHT = 620, 400
_STYLE = """
  .ink { fill: #1f2328 } .faint { fill: #59636e } .grid { stroke: #d1d9e0; stroke-width: 1 }
  .ideal { stroke: #59636e; stroke-width: 1; stroke-dasharray: 4 4 }
  .band { fill: #818b98; opacity: .10 }
  .a { stroke: #0969da; fill: #0969da } .b { stroke: #bc4c00; fill: #bc4c00 }
  .line { fill: none; stroke-width: 2 }
  text { font: 12px system-ui, sans-serif; stroke: none }
  @media (prefers-color-scheme: dark) {
    .ink { fill: #f0f6fc } .faint { fill: #9198a1 } .grid { stroke: #3d444d }
    .ideal { stroke: #9198a1 }
    .a { stroke: #4493f8; fill: #4493f8 } .b { stroke: #f0883e; fill: #f0883e }
  }
"""


def drawn(series: Mapping[str, Sequence[Point]], bands: tuple[float, float]) -> str:
    """An SVG of at most two series of (told, happened, rows), light and dark."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        "<title>What the score tells against the share that was backported</title>",
        f"<style>{_STYLE}</style>",
        *_bands(bands),
        *_grid(),
        f'<line class="ideal" x1="{_x(0)}" y1="{_y(0)}" x2="{_x(1)}" y2="{_y(1)}"/>',
    ]
    for place, (style, (name, points)) in enumerate(zip("ab", series.items(), strict=False)):
        parts += [*_line(style, points), *_legend(place, style, name)]
    return "\n".join([*parts, "</svg>", ""])


def _x(share: float) -> str:
    return f"{_LEFT + share * _SIDE:.1f}"


def _y(share: float) -> str:
    return f"{_TOP + (1 - share) * _SIDE:.1f}"


def _bands(bands: tuple[float, float]) -> list[str]:
    low, high = bands
    sides = ((0.0, low), (high, 1.0))
    return [
        f'<rect class="band" x="{_x(start)}" y="{_y(1)}" width="{(end - start) * _SIDE:.1f}" '
        f'height="{_SIDE}"/>'
        for start, end in sides
    ]


def _grid() -> list[str]:
    lines = []
    for step in range(6):
        share = step / 5
        x, y = _x(share), _y(share)
        lines += [
            f'<line class="grid" x1="{x}" y1="{_y(0)}" x2="{x}" y2="{_y(1)}"/>',
            f'<line class="grid" x1="{_x(0)}" y1="{y}" x2="{_x(1)}" y2="{y}"/>',
            _text(x, f"{_TOP + _SIDE + 18}", f"{share:.1f}", "middle", "faint"),
            _text(f"{_LEFT - 8}", f"{float(y) + 4:.1f}", f"{share:.1f}", "end", "faint"),
        ]
    middle = _LEFT + _SIDE / 2
    below = _text(
        f"{middle:.1f}", f"{_TOP + _SIDE + 42}", "likelihood that the score tells", "middle"
    )
    beside = _text("0", "0", "share that was backported", "middle")
    turned = f'<g transform="translate(16 {_TOP + _SIDE / 2:.1f}) rotate(-90)">{beside}</g>'
    return [*lines, below, turned]


def _text(x: str, y: str, words: str, anchor: str, style: str = "ink") -> str:
    return f'<text class="{style}" x="{x}" y="{y}" text-anchor="{anchor}">{words}</text>'


def _line(style: str, points: Sequence[Point]) -> list[str]:
    path = " ".join(f"{_x(told)},{_y(happened)}" for told, happened, _ in points)
    dots = [
        f'<circle class="{style}" cx="{_x(told)}" cy="{_y(happened)}" r="3.5">'
        f"<title>{told:.2f} told, {happened:.2f} of {rows} backported</title></circle>"
        for told, happened, rows in points
    ]
    return [f'<polyline class="{style} line" style="fill: none" points="{path}"/>', *dots]


def _legend(place: int, style: str, name: str) -> list[str]:
    y = _TOP + 14 + place * 22
    x = _LEFT + _SIDE + 24
    return [
        f'<circle class="{style}" cx="{x}" cy="{y - 4}" r="4"/>',
        f'<text class="ink" x="{x + 12}" y="{y}">{name}</text>',
    ]
