"""Words and their numbers: a tokenizer made of a list of words, and anyone's of `transformers`."""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from cosmolabe.core.record import read_json
from cosmolabe.nets.pretrained import require

PAD, EOS, BOS, UNKNOWN, IMAGE = "<pad>", "<eos>", "<bos>", "<unk>", "<image>"
SPECIAL = (PAD, EOS, BOS, UNKNOWN, IMAGE)
ALWAYS = ("\n", "answer", "en")
"""What PaliGemma's prompt holds beside the question (universe.md §1.1)."""
PIECE = r"\n|[?.,:;!()]|[^\s?.,:;!()]+"
NOT_BEFORE = "?.,:;!)"
MOST_BYTES = 1 << 24  # of a file of words; ours
READ_BY = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
"""Of a tokenizer's file, what decides how a text is taken apart and put together."""


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
        """From the JSON that `write` wrote; of the file no more than its words is taken.

        Raises:
            ValueError: It holds something else, or words that would be taken apart.
        """
        if path.stat().st_size > MOST_BYTES:
            raise ValueError(f"{path} has {path.stat().st_size} bytes; {MOST_BYTES} are the most")
        content = read_json(path)
        model = content.get("model") if isinstance(content, dict) else None
        table = _in_order(model.get("vocab") if isinstance(model, dict) else None)
        fixed = (*SPECIAL, *ALWAYS)
        if table is None or tuple(table)[: len(fixed)] != fixed:
            raise ValueError(f"{path}: not the words of a small model; save the model again")
        made = cls.of(tuple(table)[len(fixed) :])
        told = json.loads(made.told)
        if len(made) != len(table) or any(content.get(p) != told[p] for p in READ_BY):
            raise ValueError(f"{path}: its words are not read as ours are; save the model again")
        return made

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
            raise ValueError(
                f"the model was never taught {strange[:8]}, in {text.strip()[:60]!r}; ask another "
                "model (--vlm), or in the words it knows"
            )
        return found

    def said(self, text: str) -> str:
        """A user's text, refused where it holds a special token: it would be taken for one."""
        return _said(text, SPECIAL)

    def text(self, ids: Sequence[int]) -> str:
        """Words with a space between them, marks as they are written; special ones left out."""
        words = [self.tokenizer.id_to_token(number) for number in ids]
        said = ""
        for word in (word for word in words if word not in SPECIAL):
            tight = not said or word in NOT_BEFORE or said[-1] in "(\n" or word == "\n"
            said += word if tight else f" {word}"
        return said


def _in_order(table: Any) -> dict[str, int] | None:  # noqa: ANN401 - a stranger's JSON
    """Words by their numbers, which count from 0 without a gap; None where they do not."""
    if not isinstance(table, dict) or not all(type(n) is int for n in table.values()):
        return None
    if sorted(table.values()) != list(range(len(table))):
        return None
    return dict(sorted(table.items(), key=lambda one: one[1]))


class HubTokens:
    """A tokenizer of `transformers` behind the same few words."""

    def __init__(self, tokenizer: Any, ends: Sequence[str] = ()) -> None:  # noqa: ANN401
        self.tokenizer = tokenizer
        self.eos = tokenizer.eos_token_id
        self.bos = tokenizer.bos_token_id
        self.ends = tuple(self.number(name) for name in ends)
        """Numbers that end a turn, the one that is taught first."""
        pad = tokenizer.pad_token_id
        self.pad: int = self.eos if pad is None else pad
        self._special = tuple(
            name for name in tokenizer.get_added_vocab() if name.startswith("<") and len(name) > 2
        )

    def __len__(self) -> int:
        return len(self.tokenizer)

    @property
    def told(self) -> str:
        """Everything about it as text, for fingerprints."""
        return self.tokenizer.backend_tokenizer.to_str()

    def number(self, name: str) -> int:
        """Of a special token; one that the tokenizer lacks is refused by name."""
        found = self.tokenizer.convert_tokens_to_ids(name)
        if found is None or found == self.tokenizer.unk_token_id:
            raise ValueError(f"the tokenizer has no {name}; is it another model's?")
        return found

    def ids(self, text: str) -> list[int]:
        """Numbers of a text in which special tokens stand for themselves."""
        return self.tokenizer(text, add_special_tokens=False)["input_ids"]

    def said(self, text: str) -> str:
        """A user's text, refused where it holds a special token: it would be taken for one."""
        return _said(text, self._special)

    def text(self, ids: Sequence[int]) -> str:
        """Special tokens left out."""
        return self.tokenizer.decode(ids, skip_special_tokens=True)


def _said(text: str, special: Sequence[str]) -> str:
    found = [name for name in special if name in text]
    if found:
        raise ValueError(f"a text holds {found[0]!r}, which the model would obey: {text!r}")
    return text


def byte_tokens(special: Sequence[str], ends: Sequence[str] = ()) -> HubTokens:
    """A number a byte, for untrained models: any text can be said.

    `special` holds padding first, then the end of a text.
    """
    tokenizers = require("tokenizers", "vlm")
    transformers = require("transformers", "vlm")
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    table = {letter: number for number, letter in enumerate(letters)}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(table, []))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.add_special_tokens([tokenizers.AddedToken(name, special=True) for name in special])
    bos = next((name for name in special if "bos" in name), None)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token=special[0], eos_token=special[1], bos_token=bos
    )
    return HubTokens(fast, ends)
