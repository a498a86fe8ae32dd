"""Colours for the SSA text: a Pygments lexer, for terminals and for web pages.

pygments.highlight(text, SsaLexer(), HtmlFormatter())
"""

from __future__ import annotations

from pygments.lexer import RegexLexer, bygroups
from pygments.token import (
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Whitespace,
)

from ..ir.types import SCALARS

_SCALAR = "|".join(sorted((row.ir for row in SCALARS), key=len, reverse=True))
_WORD = r"[^\W\d]\w*"


class SsaLexer(RegexLexer):
    """The SSA text of `ir/text.py`: values, ops, attributes, types and constants.

    A line is `%results = op …`, or an op without results; all else is told by its spelling.
    """

    name = "SSA"
    aliases = ("mytriton-ssa",)
    tokens = {  # noqa: RUF012 - a class attribute is what Pygments reads
        "root": [
            (
                rf"^([ ]*)(kernel)( +)(`[^`]*`|{_WORD})",
                bygroups(Whitespace, Keyword, Whitespace, Name.Class),
            ),
            (
                rf"^([ ]*)((?:%\w+(?:, )?)+)( +)(=)( +)({_WORD})",
                bygroups(
                    Whitespace, Name.Variable, Whitespace, Operator, Whitespace, Name.Function
                ),
            ),
            (rf"^([ ]*)({_WORD})(?=[ ]|$)", bygroups(Whitespace, Name.Function)),
            (r"\n|[ ]+", Whitespace),
            (r'"(?:\\.|[^"\\])*"', String),
            (r"`[^`]*`", Name),
            (r"%\w+", Name.Variable),
            (rf"({_WORD})(=)", bygroups(Name.Attribute, Operator)),
            (rf"\b(?:vector|ptr|{_SCALAR})\b", Keyword.Type),
            (r"\b(?:none|true|false)\b", Keyword.Constant),
            (r"-?\b(?:nan|inf)\b|-?\d+(?:\.\d*(?:e[+-]?\d+)?|e[+-]?\d+)", Number.Float),
            (r"\d+(?:x\d+)+|-?\d+", Number.Integer),
            (_WORD, Name),
            (r"[{}()<>,:]", Punctuation),
            (r"[-=.*]", Operator),
            (r".", Error),
        ],
    }
