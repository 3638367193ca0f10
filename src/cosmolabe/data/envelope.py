"""One frame of any game as JSON, and whole episodes of them as tensors; lossless within float32."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from pydantic import Field, StrictBool, TypeAdapter, ValidationError, with_config

from cosmolabe.core.episode import Episode, rebuild_motion
from cosmolabe.core.fields import ALIVE, CORE_STATE
from cosmolabe.core.manifest import Manifest
from cosmolabe.data.manifests import STRICT, told

SCHEMA = 1
Real = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Count = Annotated[int, Field(strict=True, ge=0, lt=1 << 31)]
REQUIRED = ("x", "y", "vx", "vy")
_REQUIRED = frozenset(REQUIRED)
TOO_LARGE = 3.4028235677973366e38  # from here on a number rounds to no finite float32


@with_config(STRICT)
@dataclass(frozen=True)
class Frame:
    """The frame envelope: the state at tick t and the action taken after seeing it."""

    schema: Annotated[int, Field(strict=True, description="Always 1.")]
    game: Annotated[str, Field(description="The manifest's game.", max_length=200)]
    version: Annotated[Count, Field(description="The manifest's version.")]
    episode: Annotated[
        Annotated[str, Field(max_length=200)] | Count,
        Field(description="Names the episode; its frames stand together in the file."),
    ]
    t: Annotated[Count, Field(description="Tick, 0 in the first frame, then one by one.")]
    globals: Annotated[
        dict[str, Real],
        Field(alias="global", description="Every global the manifest names."),
    ]
    entities: Annotated[
        dict[str, dict[str, StrictBool | Real]],
        Field(
            description="By slot name: x, y, vx, vy, alive (true where left out) and the game "
            "fields the manifest names (0 where left out). A slot left out is not alive."
        ),
    ]
    action: Annotated[
        dict[str, Real] | None,
        Field(description="Action fields; null in an episode's last frame, and only there."),
    ] = None
    terminated: Annotated[StrictBool, Field(description="The rules ended the episode here.")] = (
        False
    )
    truncated: Annotated[StrictBool, Field(description="A clock ended it here.")] = False
    private: Annotated[
        list[Real] | None, Field(description="State no player sees; kept by nobody but you.")
    ] = field(default=None)


FRAME_TYPE: TypeAdapter[Frame] = TypeAdapter(Frame)


def envelope_schema() -> dict[str, Any]:
    """The JSON Schema of one frame envelope, as published in docs/schema."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **FRAME_TYPE.json_schema(by_alias=True),
        "title": "Cosmolabe frame envelope, schema 1",
    }


def frame_of(content: Any, where: str) -> Frame:  # noqa: ANN401 - parsed JSON
    """A frame from parsed JSON; what does not fit is named by its place after `where`."""
    if isinstance(content, dict) and content.get("schema") != SCHEMA:
        raise ValueError(f"{where}, schema: got {content.get('schema')!r}, expected {SCHEMA}")
    try:
        return FRAME_TYPE.validate_python(content)
    except ValidationError as error:
        raise ValueError(f"{where}, {told(error)}") from None


def frame_to_json(frame: Frame) -> dict[str, Any]:
    """The frame with its names on the wire; what is not set is left out."""
    content = FRAME_TYPE.dump_python(frame, by_alias=True)
    if content["private"] is None:
        del content["private"]
    return content


class Tensoriser:
    """Turns frames of one manifest into rows of tensors."""

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest
        profile = manifest.profile
        self.slots = {slot.name: row for row, slot in enumerate(manifest.slots)}
        columns = {name: index for index, name in enumerate(profile.state_columns)}
        allowed = (*CORE_STATE, *manifest.fields)
        self.columns = {name: columns[name] for name in allowed}
        self.numbers = {n: profile.global_fields.index(n) for n in manifest.globals}
        self.moves = {n: profile.action_fields.index(n) for n in manifest.actions}

    def check(self, frame: Frame, where: str) -> None:
        """Refuse a frame of another game, or with names its manifest does not have."""
        manifest = self.manifest
        if (frame.game, frame.version) != (manifest.game, manifest.version):
            raise ValueError(
                f"{where}, game: {frame.game} version {frame.version}, but the manifest is of "
                f"{manifest.game} version {manifest.version}; one import takes one game"
            )
        unknown = [name for name in frame.entities if name not in self.slots]
        if unknown:
            crowd = "slot overflow: " if len(frame.entities) > len(self.slots) else ""
            raise ValueError(
                f"{where}, entities: {crowd}the manifest has no slot {unknown[:5]}; it has "
                f"{len(self.slots)}: {list(self.slots)[:12]}"
            )
        for name, entity in frame.entities.items():
            if not self._is_sound(entity):
                self._check_entity(name, entity, where)
        missing = [name for name in self.numbers if name not in frame.globals]
        if missing:
            raise ValueError(f"{where}, global: {missing} missing; the manifest names them")
        _check_numbers(frame.globals, self.numbers, f"{where}, global")
        if frame.action is not None:
            _check_numbers(frame.action, self.moves, f"{where}, action")

    def _is_sound(self, entity: dict[str, bool | float]) -> bool:
        """The quick way for the many; `_check_entity` finds the words for the few."""
        keys = entity.keys()
        return (
            keys <= self.columns.keys()
            and keys >= _REQUIRED
            and [type(v) for v in entity.values()].count(bool)
            == isinstance(entity.get("alive"), bool)
            and ("alive" not in entity or isinstance(entity["alive"], bool))
            and -TOO_LARGE < min(entity.values())
            and max(entity.values()) < TOO_LARGE
        )

    def _check_entity(self, name: str, entity: dict[str, bool | float], where: str) -> None:
        place = f"{where}, entities.{name}"
        _check_numbers(entity, self.columns, place)
        for key, value in entity.items():
            if isinstance(value, bool) != (key == "alive"):
                wanted = "true or false" if key == "alive" else "a number"
                raise ValueError(f"{place}.{key}: {wanted}, not {value!r}")
        missing = [key for key in REQUIRED if key not in entity]
        if missing:
            raise ValueError(f"{place}: {missing} missing; leave the whole slot out if it is dead")

    def episode(self, frames: Sequence[Frame]) -> Episode:
        """Frames that were checked, in order, as tensors."""
        manifest, profile = self.manifest, self.manifest.profile
        shape = (len(frames), manifest.num_slots, profile.num_state)
        states = np.zeros(shape, np.float32)
        numbers = np.zeros((len(frames), len(profile.global_fields)), np.float32)
        actions = np.zeros((len(frames), len(profile.action_fields)), np.float32)
        for t, frame in enumerate(frames):
            for name, entity in frame.entities.items():
                row = states[t, self.slots[name]]
                row[ALIVE] = 1
                for key, value in entity.items():
                    row[self.columns[key]] = value
            for key, value in frame.globals.items():
                numbers[t, self.numbers[key]] = value
            for key, value in (frame.action or {}).items():
                actions[t, self.moves[key]] = value
        return Episode(
            registry=manifest.registry(),
            states=rebuild_motion(states, manifest),
            actions=actions,
            globals=numbers,
            terminal=np.array([frame.terminated for frame in frames]),
            truncated=frames[-1].truncated,
        )


def tensorise(frames: Sequence[Frame], manifest: Manifest) -> Episode:
    """Frames of one episode as tensors; history deltas are rebuilt from positions."""
    tensoriser = Tensoriser(manifest)
    for frame in frames:
        tensoriser.check(frame, f"frame {frame.t}")
    return tensoriser.episode(frames)


def detensorise(episode: Episode, manifest: Manifest, name: str | int) -> Iterator[Frame]:
    """The episode's frames, one by one; `tensorise` gives the same tensors back."""
    tensoriser = Tensoriser(manifest)
    extra = [(key, col) for key, col in tensoriser.columns.items() if key not in CORE_STATE]
    last = len(episode) - 1
    for t in range(len(episode)):
        entities = {}
        for slot, row in tensoriser.slots.items():
            values = episode.states[t, row]
            entity: dict[str, bool | float] = {
                key: short(values[tensoriser.columns[key]]) for key in REQUIRED
            }
            entity["alive"] = bool(values[ALIVE] > 0.5)
            entity |= {key: short(values[col]) for key, col in extra if values[col] != 0}
            entities[slot] = entity
        numbers, moves = episode.globals[t], episode.actions[t]
        yield Frame(
            schema=SCHEMA,
            game=manifest.game,
            version=manifest.version,
            episode=name,
            t=t,
            globals={key: short(numbers[col]) for key, col in tensoriser.numbers.items()},
            entities=entities,
            action=None
            if t == last
            else {key: short(moves[col]) for key, col in tensoriser.moves.items()},
            terminated=bool(episode.terminal[t]),
            truncated=bool(episode.truncated and t == last),
        )


def short(value: np.floating) -> float:
    """The shortest number that is this float32 when read back."""
    return float(f"{value:.9g}")


def _check_numbers(got: dict[str, Any], known: dict[str, int], where: str) -> None:
    for key, value in got.items():
        if key not in known:
            raise ValueError(f"{where}.{key}: the manifest names no such field; has {list(known)}")
        if abs(value) >= TOO_LARGE:
            raise ValueError(f"{where}.{key}: {value} is too large for a 32-bit number")
