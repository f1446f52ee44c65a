from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import verbatim_sdk

PROJECT = Path(__file__).parents[1]
PAGES = [PROJECT / "README.md", PROJECT / "../../docs/migrating.md"]

# What the reader has by then.
BEFORE = """
from typing import Any
from verbatim_sdk import Verbatim
client: Verbatim = Verbatim()
def load_place() -> str: ...  # type: ignore[empty-body]
def save_place(place: str) -> None: ...
def handle(event: object) -> None: ...
"""


def test_the_examples_of_the_pages_have_the_types_of_the_package(tmp_path: Path) -> None:
    blocks = [block for page in PAGES for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)]
    ours = [block for block in blocks if not re.search(r"^(from openai|import assemblyai)", block, re.MULTILINE)]
    for index, block in enumerate(ours):
        # The client of a block replaces the one above.
        before = "" if "from verbatim_sdk import Verbatim\n" in block or "AsyncVerbatim" in block else BEFORE
        (tmp_path / f"example_{index}.py").write_text(before + block)
    examples = sorted(tmp_path.glob("example_*.py"))

    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file", str(PROJECT / "pyproject.toml"), *map(str, examples)],
        env={**os.environ, "MYPYPATH": str(Path(verbatim_sdk.__file__).parent.parent)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert len(examples) >= 8
    assert run.returncode == 0, run.stdout + run.stderr
