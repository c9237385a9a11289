"""The command, the result file, the tables and the page."""

import copy
import json
import re
import shutil
import sys
from pathlib import Path

import jsonschema
import pytest
import threadpoolctl
from tests.benchmarks.fake_workload import workload as fake

from benchmarks import comparison, page, picture, results, table
from benchmarks.__main__ import _peers, main, parser
from benchmarks.ranking import rank
from benchmarks.runner import Options, run_workload
from benchmarks.workload import OURS, discover, label, select

SCHEMA = json.loads((Path(results.__file__).parent / "schema.json").read_text())


@pytest.fixture(scope="module")
def result():
    options = Options(repeats=2, peers=("ladder", "hopeless", "absent", "raises", "reference"))
    return results.compose(results.environment(), options, [rank(fake, run_workload(fake, options))])


def test_a_result_fits_the_schema_and_survives_json(result, tmp_path):
    path = results.write(result, tmp_path / "deep" / "result.json")
    assert json.loads(path.read_text()) == result
    jsonschema.validate(result, SCHEMA)


@pytest.mark.parametrize("harm", [{"status": "lost"}, {"seconds": None}, {"runs": 0}, {"speed": 1}])
def test_the_schema_refuses_a_damaged_row(result, harm):
    damaged = copy.deepcopy(result)
    damaged["workloads"][0]["rows"][0] |= harm
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(damaged, SCHEMA)


def test_results_are_saved_under_a_stamp(result):
    path = results.default_path(result | {"created": "2026-01-02T03:04:05+00:00"})
    assert path == results.FOLDER / "2026-01-02T030405Z.json"


def test_an_interrupt_keeps_the_workloads_that_are_done(tmp_path, monkeypatch, capsys):
    def run(workload, options, report, earlier):
        if workload.name == "c2_lasso_sparse":
            raise KeyboardInterrupt
        return run_workload(fake, options)

    monkeypatch.setattr("benchmarks.__main__.run_workload", run)
    saved, path = [], tmp_path / "c.json"
    write = results.write
    monkeypatch.setattr(
        results, "write", lambda result, path: saved.append(len(result["workloads"])) or write(result, path)
    )
    assert main(["c", "--peers", "", "--repeats", "1", "--json", str(path)]) == 130
    assert saved == [1, 1]  # after the first workload, and at the end
    assert [entry["name"] for entry in json.loads(path.read_text())["workloads"]] == ["c1_lasso_dense"]
    assert "Saved to" in capsys.readouterr().out


def test_the_kernels_of_blas_are_recorded(result):
    libraries = [library for library in threadpoolctl.threadpool_info() if library["user_api"] == "blas"]
    recorded = result["environment"]["blas"]
    assert libraries and all(any(library["internal_api"] in line for line in recorded) for library in libraries)
    assert all(line in page._machine(result) for line in recorded)


def test_load_and_small_sizes_are_remarked(result):
    def remarks(load, quick):
        machine = result["environment"] | {"load_at_start": load}
        return results.remarks(result | {"environment": machine, "options": result["options"] | {"quick": quick}})

    assert remarks(0.1, False) == remarks(None, False) == []
    assert "not idle (load 1.50" in remarks(1.5, False)[0]
    assert "--quick" in remarks(0.0, True)[0]


def test_each_row_says_how_it_ended(result):
    entry = result["workloads"][0]
    last = {row["solver"]: table.outcome(entry, row) for row in entry["rows"]}
    assert last["surefit"] == "counted" and last["hopeless"] == "misses gate" and last["reference"] == "reference"
    assert last["absent"] == "not installed" and last["raises"] == "failed: ValueError: this solver refuses"
    assert {table.outcome(entry, row) for row in entry["rows"] if row["solver"] == "ladder"} == {
        "misses gate",
        "passes",
        "fastest peer",
    }
    assert table.summary(entry) == f"ladder / surefit = {entry['ratio']:.2f} ({entry['verdict']})."
    assert (
        table.summary(entry | {"ratio": None, "verdict": "surefit misses the gate"})
        == "No ratio: surefit misses the gate."
    )


def test_tables_with_and_without_rich(result, capsys, monkeypatch):
    table.show(result)
    assert "┃" in capsys.readouterr().out
    monkeypatch.setitem(sys.modules, "rich.console", None)
    table.show(result)
    out = capsys.readouterr().out
    assert "┃" not in out and "failed: ValueError: this solver refuses" in out
    header, first = out.splitlines()[2:4]
    assert first.index("counted") == header.index("result")


@pytest.mark.parametrize(("value", "text"), [(None, ""), (0.01234, "12.3 ms"), (1.5, "1.5 s"), (0.2345, "0.234 s")])
def test_seconds(value, text):
    assert table.seconds(value) == text


def test_the_page_is_filled_between_its_markers(result, tmp_path):
    copied, saved = tmp_path / "benchmarks.md", results.write(result, tmp_path / "r.json")
    shutil.copy(page.PAGE, copied)
    page.write([saved], copied, tmp_path)
    once, drawn = copied.read_text(), (tmp_path / picture.RATIOS).read_bytes()
    page.write([saved], copied, tmp_path)
    assert copied.read_text() == once and (tmp_path / picture.RATIOS).read_bytes() == drawn
    assert once.partition(page.BEGIN)[0] == page.PAGE.read_text().partition(page.BEGIN)[0]
    assert "### fake_workload: a parabola" in once and "| absent | tol=1e+00 |" in once
    assert once.count("\n| ladder |") == 1  # one row a solver: the one that counts


def test_two_threads_are_compared_with_one_and_projected(result, tmp_path):
    faster = copy.deepcopy(result)
    faster["options"]["threads"] = 2
    for entry, other in zip(result["workloads"], faster["workloads"], strict=True):
        comparison.ours(other)["seconds"] = comparison.ours(entry)["seconds"] * 0.6
    [found] = comparison.speedups(result, faster)
    assert found.factor == pytest.approx(1 / 0.6) and found.serial == pytest.approx(0.2)
    assert found.projected == pytest.approx(1 / (0.2 + 0.8 / 16))
    copied = tmp_path / "benchmarks.md"
    shutil.copy(page.PAGE, copied)
    page.write(
        [results.write(result, tmp_path / "1.json"), results.write(faster, tmp_path / "2.json")], copied, tmp_path
    )
    assert "| 1.67 | 20% | 4.0 |" in copied.read_text()
    assert copied.read_text().count("### fake_workload") == 1 and copied.read_text().count("| fake_workload |") == 3


def test_growth_is_drawn_family_by_family(result, tmp_path):
    entry = copy.deepcopy(result["workloads"][0]) | {"name": "scale_rows", "gate": None}
    sizes = [("Ridge", 1000, 1.0), ("Ridge", 4000, 4.0), ("KMeans", 1000, 2.0)]
    entry["rows"] = [
        entry["rows"][0] | {"variant": f"family={f}, rows={n}", "seconds": s, "memory_mb": 8.0} for f, n, s in sizes
    ]
    assert picture.growth(entry) == {"Ridge": [(1000, 1.0, 8.0), (4000, 4.0, 8.0)], "KMeans": [(1000, 2.0, 8.0)]}
    picture.draw([result | {"workloads": [entry]}], tmp_path)
    assert (tmp_path / picture.GROWTH).read_text().count("<!--  KMeans -->") == 1


def test_the_page_refuses_small_sizes_and_missing_markers(result, tmp_path):
    quick = results.write(result | {"options": result["options"] | {"quick": True}}, tmp_path / "quick.json")
    with pytest.raises(ValueError, match=r"needs a result of full sizes; quick\.json was made with --quick"):
        page.write([quick], tmp_path / "unused.md")
    (tmp_path / "bare.md").write_text("# Benchmarks\n")
    with pytest.raises(ValueError, match="must have the lines"):
        page.write([results.write(result, tmp_path / "r.json")], tmp_path / "bare.md")


def test_the_page_explains_every_column_and_option():
    text = page.PAGE.read_text()
    columns = text.partition("## The columns")[2].partition("## Rules")[0]
    explained = {
        name.strip() for line in columns.splitlines() for name in line.split("|")[1:2] for name in name.split(",")
    }
    assert set(table.HEADER) <= explained
    options = set(re.findall(r"--[a-z-]+", parser().format_help())) - {"--help"}
    assert len(options) >= 9 and all(option in text for option in options)


def test_every_workload_is_complete():
    found = discover()
    assert [workload.name for workload in found] == sorted(workload.name for workload in found)
    for workload in found:
        assert set(workload.sizes) == {"full", "quick", "warm"} and next(iter(workload.solvers)) == OURS
        assert len(workload.solvers) > 1 and workload.floor and workload.recipe


def test_workloads_are_chosen_by_the_beginning_of_their_names():
    found = discover()
    assert [workload.name for workload in select(found, ["c1", "q"])] == [
        "c1_lasso_dense",
        "q1_import",
        "q2_first_fit",
        "q3_first_fit_ever",
        "q4_first_fits",
    ]
    assert select(found, []) == found


def test_variants_are_labeled():
    assert label({"tol": 1e-6, "prune": True}) == "tol=1e-06, prune=True"
    assert label({}) == ""


def test_names_of_peers_may_contain_commas():
    chosen = select(discover(), ["h1", "c1"])
    listed = "celer, pygam (30 splines, 11 weights),skglm"
    assert _peers(listed, chosen) == ("celer", "pygam (30 splines, 11 weights)", "skglm")
    assert _peers("", chosen) == () and _peers(None, chosen) is None
    with pytest.raises(ValueError, match=r"must be among SciPy.*; got 12 weights\)"):
        _peers("pygam (30 splines, 11 weights), 12 weights)", chosen)


def test_list_and_mistakes_of_the_command_line(capsys, tmp_path):
    assert main(["c1", "--list"]) == 0
    assert capsys.readouterr().out.startswith("c1_lasso_dense")
    assert main(["lasso"]) == 2
    assert "got lasso. See --list." in capsys.readouterr().err
    assert main(["c1", "--settings-of", str(tmp_path / "nothing.json")]) == 2
    assert "nothing.json" in capsys.readouterr().err
    assert main(["c1", "--peers", "river"]) == 2
    assert "--peers must be among celer, glum" in capsys.readouterr().err
    assert main(["--write-docs", str(tmp_path / "nothing.json")]) == 2
    with pytest.raises(SystemExit):
        main(["c1", "--repeats", "0"])
    assert "must be at least 1" in capsys.readouterr().err


def test_a_quick_run_of_a_real_workload(capsys, tmp_path):
    path = tmp_path / "c1.json"
    assert main(["c1", "--quick", "--peers", "scikit-learn", "--repeats", "1", "--json", str(path)]) == 0
    saved = json.loads(path.read_text())
    jsonschema.validate(saved, SCHEMA)
    (entry,) = saved["workloads"]
    assert [row["solver"] for row in entry["rows"]] == ["surefit", "scikit-learn"]
    assert entry["rows"][1]["passes"] and entry["rows"][1]["gap"] <= 1e-6
    shown = capsys.readouterr()
    assert f"Saved to {path}" in shown.out
    assert f"c1_lasso_dense  scikit-learn tol=1e-12: {table.seconds(entry['rows'][1]['seconds'])}, gap " in shown.err


def test_an_interrupted_run_saves_what_it_has(capsys, tmp_path, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("benchmarks.__main__.run_workload", interrupt)
    assert main(["c1", "--json", str(tmp_path / "c1.json")]) == 130
    assert json.loads((tmp_path / "c1.json").read_text())["workloads"] == []
