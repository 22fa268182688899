"""What the documentation says is what the code does."""

import importlib.util
import json
import re
import runpy
import tomllib
from pathlib import Path

import pytest

import poke_env

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=[f"block {i}" for i in range(len(BLOCKS))])
def test_readme_code_that_does_not_run(block):
    if "sb3_contrib" in block:
        pytest.importorskip("sb3_contrib")
    exec(compile(block, "README.md", "exec"), {"__name__": "readme"})


def test_readme_opens_with_a_short_example():
    assert len(BLOCKS[0].splitlines()) <= 10


def test_readme_names_a_program_that_does_not_exist():
    programs = re.findall(r"python -m ([\w.]+\w)", README)
    assert len(programs) > 3
    for program in programs:
        assert importlib.util.find_spec(program), program


def test_readme_links_to_a_file_that_does_not_exist():
    for link in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / link).exists(), link


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_that_does_not_run(path):
    pytest.importorskip("PIL")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    scope = {"__name__": "notebook"}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"], "run the notebook and save its outputs"
            exec(compile("".join(cell["source"]), path.name, "exec"), scope)


def test_observation_table_differs_from_the_code():
    make = runpy.run_path(str(ROOT / "docs" / "make.py"))
    page = (ROOT / "docs" / "poke_v0.md").read_text(encoding="utf-8")
    assert page == make["page_text"](), "run python docs/make.py"


def test_versions_differ_between_package_and_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == poke_env.__version__
    assert f"[{poke_env.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"version: {poke_env.__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
