"""What the README and the documentation pages show works as shown."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.snippets import Block, Program, last_digit, read_blocks, read_programs, run

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
GENERATED = {"_build", "gallery", "api"}
PAGES = [
    *([README] if README.exists() else []),
    *(p for p in sorted((ROOT / "docs").rglob("*.md")) if not GENERATED & set(p.parts)),
]
PROGRAMS = [program for page in PAGES for program in read_programs(page)]
ROBOT_FILES = [
    (page, block)
    for page in PAGES
    for block in read_blocks(page, "yaml")
    if re.search(r"^rods:", block.text, re.MULTILINE)
]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_python_blocks_run_and_show_true_numbers(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    checked = run(program)
    assert checked > 0, (
        f"{program}: nothing in this program is checked; state a number with '# -> value'"
    )


@pytest.mark.parametrize(
    ("page", "block"), ROBOT_FILES, ids=[f"{p.name}:{b.line}" for p, b in ROBOT_FILES]
)
def test_robot_files_shown_are_accepted(page: Path, block: Block, tmp_path: Path) -> None:
    file = tmp_path / "shown.yaml"
    file.write_text(block.text, encoding="utf-8")
    program = "import sys; from pliant.cli import main; sys.argv[0] = 'pliant'; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "check", str(file)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{page.name}:{block.line}\n{done.stdout}{done.stderr}"


def test_readme_opens_with_the_two_commands_a_picture_and_a_cantilever() -> None:
    text = README.read_text(encoding="utf-8")
    top = text[: text.index("```python")]
    assert "make run" in top
    assert "make test" in top
    assert re.search(r"!\[[^\]]*\]\(|<img ", text), "the README shows no picture"
    assert read_programs(README), "the README shows no program"


def test_files_and_commands_named_in_readme_exist() -> None:
    text = README.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)|src=\"([^\"]+)\"", text)
    local = {a or b for a, b in links if not (a or b).startswith(("http:", "https:", "mailto:"))}
    missing = sorted(link for link in local if not (ROOT / link).exists())
    assert not missing, f"README.md links to files that do not exist: {missing}"
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    named = set(re.findall(r"\bmake ([a-z]+)\b", "\n".join(re.findall(r"`+[^`]+`+", text))))
    assert named <= set(targets), f"not in the Makefile: {sorted(named - set(targets))}"


@pytest.mark.parametrize(
    ("text", "unit"), [("3.14", 0.01), ("2.5e-7", 1e-8), ("12", 1.0), ("-0.050", 1e-3)]
)
def test_a_stated_number_is_checked_to_its_last_digit(text: str, unit: float) -> None:
    assert last_digit(text) == pytest.approx(unit)


def test_a_wrong_number_on_a_page_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 2.0\nprint(x / 3)  # -> 0.667\nx  # -> 2.1\n```\n")
    with pytest.raises(AssertionError, match=r"page\.md:4: got 2\.0, the page says 2\.1"):
        run(read_programs(page)[0])


def test_a_block_without_import_goes_on_from_the_one_before(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nimport pliant\nx = 1\n```\ntext\n```python\ny = x + 1\nassert y == 2\n```\n"
        "```python\nimport pliant as pl\n[1, 2.5]  # -> [1, 2.5]\n```\n"
    )
    programs = read_programs(page)
    assert [len(p.blocks) for p in programs] == [2, 1]
    assert [run(p) for p in programs] == [1, 1]
