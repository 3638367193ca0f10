"""Words and their numbers: a tokenizer made of a list of words, and anyone's of `transformers`."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cosmolabe.nets.pretrained import require

PAD, EOS, BOS, UNKNOWN, IMAGE = "<pad>", "<eos>", "<bos>", "<unk>", "<image>"
SPECIAL = (PAD, EOS, BOS, UNKNOWN, IMAGE)
ALWAYS = ("\n", "answer", "en")
"""What PaliGemma's prompt holds beside the question (universe.md §1.1)."""
PIECE = r"\n|[?.,:;!()]|[^\s?.,:;!()]+"
NOT_BEFORE = "?.,:;!)"


def words_of(texts: Iterable[str]) -> list[str]:
    """Every word and every mark of these texts once, lower case, in order of appearance."""
    found = dict.fromkeys(piece for text in texts for piece in re.findall(PIECE, text.lower()))
    return [piece for piece in found if piece != "\n"]


class WordTokens:
    """One number a word; case is dropped, and a word that is not in the list is refused by name."""

    def __init__(self, tokenizer: Any) -> None:  # noqa: ANN401 - of `tokenizers`
        self.tokenizer = tokenizer
        self.pad, self.eos, self.bos, self.unknown, self.image = (
            tokenizer.token_to_id(name) for name in SPECIAL
        )

    @classmethod
    def of(cls, words: Sequence[str]) -> "WordTokens":
        """From a list of words as `words_of` gives it; twice the same word is once."""
        tokenizers = require("tokenizers", "vlm")
        known = dict.fromkeys((*SPECIAL, *ALWAYS, *(word.lower() for word in words)))
        strange = [w for w in known if w not in SPECIAL and re.findall(PIECE, w) != [w]]
        if strange:
            raise ValueError(f"not one word each: {strange[:8]}; `words_of` takes texts apart")
        table = {word: number for number, word in enumerate(known)}
        made = tokenizers.Tokenizer(tokenizers.models.WordLevel(table, unk_token=UNKNOWN))
        made.normalizer = tokenizers.normalizers.Lowercase()
        made.pre_tokenizer = tokenizers.pre_tokenizers.Split(
            tokenizers.Regex(PIECE), "removed", invert=True
        )
        made.add_special_tokens([tokenizers.AddedToken(name, special=True) for name in SPECIAL])
        return cls(made)

    @classmethod
    def read(cls, path: Path) -> "WordTokens":
        """From the JSON that `write` wrote."""
        return cls(require("tokenizers", "vlm").Tokenizer.from_file(str(path)))

    def write(self, path: Path) -> None:
        """As JSON."""
        self.tokenizer.save(str(path))

    def __len__(self) -> int:
        return self.tokenizer.get_vocab_size()

    @property
    def told(self) -> str:
        """Everything about it as text, for fingerprints."""
        return self.tokenizer.to_str()

    def ids(self, text: str) -> list[int]:
        """Numbers of a text's words; a word that nobody taught it is refused by name."""
        found = self.tokenizer.encode(text, add_special_tokens=False).ids
        if self.unknown in found:
            known = self.tokenizer.get_vocab()
            strange = [word for word in words_of([text]) if word not in known]
            raise ValueError(f"the model was never taught {strange[:8]}; in {text!r}")
        return found

    def text(self, ids: Sequence[int]) -> str:
        """Words with a space between them, marks as they are written; special ones left out."""
        words = [self.tokenizer.id_to_token(number) for number in ids]
        said = ""
        for word in (word for word in words if word not in SPECIAL):
            tight = not said or word in NOT_BEFORE or said[-1] in "(\n" or word == "\n"
            said += word if tight else f" {word}"
        return said
