"""bin/docs builds the documentation as a site."""

import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LINK = re.compile(r"\b(href|src)=\"?([^\"\s>]+)")


def build(root, folder):
    """Runs bin/docs of the checkout `root`."""
    return subprocess.run([root / "bin/docs", folder], capture_output=True,
                          text=True, check=False, timeout=1000)


@pytest.fixture(name="site", scope="module")
def fixture_site(tmp_path_factory):
    """The site of this checkout, built twice into one folder."""
    folder = tmp_path_factory.mktemp("docs") / "site"
    for _ in range(2):
        built = build(ROOT, folder)
        assert built.returncode == 0, built.stderr
        assert "WARNING" not in built.stderr
    return folder


def test_every_document_is_a_page(site):
    for document in [ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md",
                     *(ROOT / "docs").rglob("*.md")]:
        page = site / document.relative_to(ROOT).with_suffix(".html")
        if document.name == "README.md":
            page = page.with_name("index.html")
        assert page.exists(), document
    index = (site / "search/search_index.json").read_text("utf-8")
    assert "Poisoned Chalice" in index


def test_links_are_relative_and_lead_to_files(site):
    pages = [page for page in site.rglob("*.html") if page.name != "404.html"]
    assert len(pages) > 40
    for page in pages:
        for kind, link in LINK.findall(page.read_text("utf-8")):
            path = link.partition("#")[0]
            if re.match(r"[a-z]+:", link):
                # Links for readers may lead elsewhere; nothing is loaded.
                assert kind == "href" and not link.endswith(".css"), page
            elif path:
                assert not path.startswith("/"), (page, link)
                assert (page.parent / path).exists(), (page, link)


def copied(tmp_path):
    """A copy of what bin/docs reads; its packages are those installed here."""
    root = tmp_path / "checkout"
    for name in ["bin", "docs", "examples", "tools", "web/npm"]:
        shutil.copytree(ROOT / name, root / name)
    for name in ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "LICENSE"]:
        shutil.copy(ROOT / name, root / name)
    (root / ".tara").mkdir()
    (root / ".tara/docs-venv").symlink_to(ROOT / ".tara/docs-venv")
    return root


def test_faults_are_named_and_keep_the_earlier_site(site, tmp_path):
    """Links to no page and to no section, and a page that is not listed."""
    root = copied(tmp_path)
    with open(root / "docs/README.md", "a", encoding="utf-8") as page:
        page.write("\n[a](reference/nowhere.md)\n"
                   "[b](reference/rules.md#nowhere)\n")
    (root / "docs/how-to/new.md").write_text("# New\n")
    folder = tmp_path / "site"
    shutil.copytree(site, folder)
    built = build(root, folder)
    assert built.returncode != 0
    for complaint in "nowhere.md", "#nowhere", "docs/how-to/new.md":
        assert complaint in built.stderr
    assert (folder / "index.html").exists()


def test_folders_with_other_files_are_kept(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    built = build(ROOT, tmp_path)
    assert built.returncode == 1
    assert "neither an earlier site nor an empty folder" in built.stderr
    assert (tmp_path / "mine.txt").read_text() == "mine"
