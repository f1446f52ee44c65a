from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[1]
# The wheels of what the package depends on, so that a test needs no network.
WHEELS = Path(sys.prefix) / "wheels"

USE = """
import asyncio
from verbatim_sdk import AsyncVerbatim, Verbatim, verify_webhook

def read(client: Verbatim) -> str | None:
    job = client.transcribe("a.mp3", timestamps="word", metadata={"a": 1})
    for entry in client.jobs.list(status="failed"):
        reveal_type(entry["cost"])
    event = verify_webhook({}, b"", "whsec_")
    if event["type"] == "transcription.failed":
        reveal_type(event["data"]["job"]["error"])
    return job["text"]

async def wait(client: AsyncVerbatim) -> None:
    job = await client.jobs.create("a.mp3", plan="gold")
    print(job["textt"])
"""


def run(*arguments: object, cwd: Path = PROJECT) -> str:
    done = subprocess.run([str(each) for each in arguments], cwd=cwd, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    report = run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    made = list(folder.glob("*.whl"))
    assert made, report
    return made[0]


def test_the_wheel_has_the_package_its_types_and_one_dependency(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()

    assert {"verbatim_sdk/py.typed", "verbatim_sdk/types.py", "verbatim_sdk/_sync/client.py"} <= set(names)
    assert all(name.startswith("verbatim_sdk") for name in names)
    assert [line for line in metadata.splitlines() if line.startswith("Requires-Dist")] == [
        "Requires-Dist: httpx<1,>=0.27",
        "Requires-Dist: websockets>=14; extra == 'live'",
    ]
    assert "Requires-Python: >=3.10" in metadata
    assert "pip install ./verbatim_sdk-*.whl" in metadata


def test_the_wheel_works_in_a_fresh_environment_and_type_checkers_find_its_types(wheel: Path, tmp_path: Path) -> None:
    if not WHEELS.is_dir():
        pytest.skip(f"{WHEELS} has no wheel of httpx; pip download -d {WHEELS} httpx")
    python = tmp_path / "env/bin/python"
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "env")
    run(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index", "--find-links", WHEELS, wheel)
    code = tmp_path / "use.py"
    code.write_text(USE)

    imported = run(
        python, "-W", "error", "-c", "import verbatim_sdk as v; print(v.__file__, v.__version__)", cwd=tmp_path
    )
    checked = run(sys.executable, "-m", "mypy", "--strict", "--python-executable", python, code, cwd=tmp_path)

    assert imported.startswith(str(tmp_path / "env"))
    assert 'Revealed type is "float | None"' in checked
    assert "JobInEventError" in checked
    assert "has incompatible type" in checked
    assert 'has no key "textt"' in checked
    assert "Found 2 errors" in checked
