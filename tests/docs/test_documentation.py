"""What the documentation says is what the code does."""

import importlib.util
import re
import runpy
import tomllib
from pathlib import Path

import pytest

import poke_env

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SLOW = {"doubling_strategy", "rubber_equity", "train_your_first_agent"}
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
def test_notebook_stored_otherwise_than_a_clean_kernel_leaves_it(path):
    nbformat = pytest.importorskip("nbformat")
    tidied = runpy.run_path(str(ROOT / "notebooks" / "run.py"))["tidied"]
    text = path.read_text(encoding="utf-8")
    notebook = nbformat.read(path, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    advice = f"run python notebooks/run.py {path.stem}"
    assert [cell.execution_count for cell in cells] == [*range(1, len(cells) + 1)], advice
    outputs = [output for cell in cells for output in cell.outputs]
    assert outputs, advice
    assert not [output for output in outputs if output.get("name") == "stderr"], "it warns"
    assert text == tidied(notebook), advice
    assert len(text) < 450_000, "smaller plots, please"


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=[pytest.mark.slow] if path.stem in SLOW else [])
        for path in NOTEBOOKS
    ],
)
def test_notebook_that_does_not_run_in_a_clean_kernel(path):
    for needed in ("PIL", "ipykernel", "nbclient", "sb3_contrib"):
        pytest.importorskip(needed)
    runpy.run_path(str(ROOT / "notebooks" / "run.py"))["execute"](path, seconds=1200)


def test_notebook_whose_error_is_overlooked(tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    exceptions = pytest.importorskip("nbclient.exceptions")
    pytest.importorskip("ipykernel")
    monkeypatch.chdir(tmp_path)  # where a kernel would work if it had no folder of its own
    cells = ['open("left", "w").close()', "1 / 0"]
    notebook = nbformat.v4.new_notebook(cells=[*map(nbformat.v4.new_code_cell, cells)])
    nbformat.write(notebook, tmp_path / "wrong.ipynb")
    execute = runpy.run_path(str(ROOT / "notebooks" / "run.py"))["execute"]
    with pytest.raises(exceptions.CellExecutionError, match="ZeroDivisionError"):
        execute(tmp_path / "wrong.ipynb")
    assert [path.name for path in tmp_path.iterdir()] == ["wrong.ipynb"]


def test_observation_table_differs_from_the_code():
    make = runpy.run_path(str(ROOT / "docs" / "make.py"))
    page = (ROOT / "docs" / "poke_v0.md").read_text(encoding="utf-8")
    assert page == make["page_text"](), "run python docs/make.py"


def test_versions_differ_between_package_and_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == poke_env.__version__
    assert f"[{poke_env.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"version: {poke_env.__version__}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
