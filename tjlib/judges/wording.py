"""Text as anyone may send it, made plain: sentences, clauses, words, stems.

Decision: what a reader would see is what is read, so character references are
resolved, terminal codes and invisible characters dropped, and the brackets of
markup become spaces while the words inside them stay. Refusal: no meaning is
looked for here, and no language but English is expected. All rules are ours.
"""

from __future__ import annotations

import html
import re
import unicodedata

__all__ = ["LONGEST", "STOP", "clauses", "plain", "sentences", "stem", "stems", "word_set"]

#: Words after which a sentence is cut, as an embedder reads no further than some 256 tokens.
LONGEST = 80

_ANSI = re.compile(r"\x1b\[[0-9;?]{0,32}[A-Za-z]")
_END = re.compile(r"(?<=[.!?])[\"')\]*_]*\s+|\n+")
_TITLE = re.compile(r"(?:^|\s)(?:Mr|Mrs|Ms|Dr|No|St|e\.g|i\.e)\.$")
_CLAUSE = re.compile(r"[,;:()]\s|\s[-–—]\s|\b(?:but|and|while|which|who|because)\b")
_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*")
_SUFFIX = re.compile(r"(?:ments?|ations?|ions?|ings?|ers?|ed|ies|es|s|e|y)$")


def word_set(words: str) -> frozenset[str]:
    """Return the words of a list written as one line.

    Examples
    --------
    >>> sorted(word_set("no not"))
    ['no', 'not']
    """
    return frozenset(words.split())


_NOT = word_set("no not never nothing none nobody neither nor without cannot cant dont")
#: Words that carry no content, on which two texts do not agree (ours).
STOP = word_set(
    "a an the of to for in on at by with from as and or but if is are was were be been being am "
    "has have had do does did will would shall should can could may might must it its this that "
    "these those there here i we you he she they me us him her them my our your his their who "
    "which what when so also anything something everything just again very any some all t s"
)


def plain(text: str) -> str:
    """Return a text as a reader would see it, line ends kept.

    Examples
    --------
    >>> plain("<b>Your\\u200b refund</b> &amp; more")
    ' b Your refund /b  & more'
    """
    text = _ANSI.sub("", unicodedata.normalize("NFKC", html.unescape(text)))
    text = text.translate(str.maketrans("<>`*’\t\r", "    ' \n"))
    return "".join(c for c in text if c == "\n" or unicodedata.category(c)[0] != "C")


def sentences(text: str) -> list[str]:
    """Split a text into its sentences, each of at most `LONGEST` words.

    Examples
    --------
    >>> sentences("Dear Ms. Roe, EUR 10.50 was paid. Thanks!")
    ['Dear Ms. Roe, EUR 10.50 was paid.', 'Thanks!']
    """
    parts: list[str] = []
    for part in _END.split(plain(text)):
        if parts and _TITLE.search(parts[-1]):
            parts[-1] = f"{parts[-1]} {part}"
        else:
            parts.append(part)
    out = []
    for part in parts:
        words = part.split()
        out += (" ".join(words[i:i + LONGEST]) for i in range(0, len(words), LONGEST))
    return [part for part in out if _WORD.search(part)]


def clauses(sentence: str) -> list[str]:
    """Split a sentence where a negation stops reaching.

    Examples
    --------
    >>> clauses("Nothing was sent, but I called.")
    ['Nothing was sent', '', 'I called.']
    """
    return [part.strip() for part in _CLAUSE.split(sentence)]


def stem(word: str) -> str:
    """Cut a word's ending, so that its forms compare as equal.

    Examples
    --------
    >>> [stem(word) for word in ("refunded", "Refund", "shipped", "ship", "replacement")]
    ['refund', 'refund', 'ship', 'ship', 'replac']
    """
    word = word.casefold()
    for _ in range(2):  # replacements: first ments, then e
        cut = _SUFFIX.sub("", word)
        word = cut if len(cut) >= 3 else word
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


def stems(text: str) -> frozenset[str]:
    """Return the stems of a text's words without the ones that carry no content.

    Numbers compare as numbers, and all negations are the one word ``not``.

    Examples
    --------
    >>> sorted(stems("We never refunded EUR 20.00 to you"))
    ['20', 'eur', 'not', 'refund']
    """
    found = set()
    for word in _WORD.findall(text.replace("n't", " not").replace("'", "")):
        low = word.casefold()
        if low in _NOT:
            found.add("not")
        elif word[0].isdigit():
            found.add(word.rstrip("0").rstrip(".") if "." in word else word)
        elif low not in STOP:
            found.add(stem(word))
    return frozenset(found)
