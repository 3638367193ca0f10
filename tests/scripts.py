"""Scripts beside the package (recipes, tracers) as modules, for tests that call into them."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]


def script(path: str) -> ModuleType:
    """The script at a path below the repository's root, freshly executed."""
    spec = spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec, path
    assert spec.loader, path
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
