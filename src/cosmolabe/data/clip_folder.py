"""The clips of a set on disk by their names, read when they are asked for and not kept."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from cosmolabe.core.question import AskedClip
from cosmolabe.data.questions.folder import clip_rows, read_clip


def by_name(
    clips: Iterable[AskedClip] | Mapping[str, AskedClip],
) -> Mapping[str, AskedClip]:
    """Clips by their names; what knows them by name already is left as it is."""
    if isinstance(clips, Mapping):
        return cast("Mapping[str, AskedClip]", clips)
    return {clip.id: clip for clip in clips}


class ClipFolder(Mapping[str, AskedClip]):
    """Of one set or several; a clip's name stands for one clip only."""

    def __init__(self, folders: Sequence[Path | str]) -> None:
        self._rows: dict[str, tuple[Path, dict]] = {}
        for folder in map(Path, folders):
            for row in clip_rows(folder):
                if row["id"] in self._rows:
                    raise ValueError(f"{folder}: a clip named '{row['id']}' was there already")
                self._rows[row["id"]] = (folder, row)

    def __getitem__(self, name: str) -> AskedClip:
        folder, row = self._rows[name]
        return read_clip(folder, row)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def only(self, names: Iterable[str]) -> "ClipFolder":
        """The same, of these clips alone, in the order of all."""
        wanted, found = set(names), ClipFolder(())
        found._rows = {name: row for name, row in self._rows.items() if name in wanted}
        return found

    def session(self, name: str) -> str:
        """What a clip was cut from; its own name where nothing says so."""
        return str(self._rows[name][1]["about"].get("session") or name)
