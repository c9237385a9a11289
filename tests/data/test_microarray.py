"""Gene expression from a local file: orientation, labels, and the table of clusters by labels."""

import numpy as np
import pytest

from surefit.core.errors import InvalidData
from surefit.data import cluster_table, load_microarray


def test_samples_become_rows(tmp_path):
    genes = np.random.default_rng(0).uniform(-6, 6, (30, 4))  # 30 genes, 4 samples
    np.savetxt(tmp_path / "values.gz", genes)
    (tmp_path / "labels").write_text("CNS\nRENAL\nCNS\nBREAST\n")
    data = load_microarray(tmp_path / "values.gz", tmp_path / "labels")
    assert data.X.shape == (4, 30) and data.X == pytest.approx(genes.T)
    assert data.labels.tolist() == ["CNS", "RENAL", "CNS", "BREAST"]
    assert load_microarray(tmp_path / "values.gz").labels.tolist() == [""] * 4


def test_errors(tmp_path):
    np.savetxt(tmp_path / "values", np.ones((3, 2)))
    (tmp_path / "labels").write_text("one\n")
    with pytest.raises(InvalidData, match="expected 2 labels"):
        load_microarray(tmp_path / "values", tmp_path / "labels")
    with pytest.raises(InvalidData, match="downloads nothing"):
        load_microarray(tmp_path / "nowhere")
    with pytest.raises(InvalidData, match="not a table of numbers"):
        load_microarray(tmp_path / "labels")
    with pytest.raises(InvalidData, match="same length; got 2 and 1"):
        cluster_table([0, 1], ["a"])


def test_sums_of_the_table_are_the_counts():
    rng = np.random.default_rng(1)
    clusters, labels = rng.integers(4, size=60), rng.choice(["a", "b", "c"], size=60)
    table, rows, columns = cluster_table(clusters, labels)
    assert table.sum(axis=1).tolist() == [int(np.sum(clusters == k)) for k in rows]
    assert table.sum(axis=0).tolist() == [int(np.sum(labels == name)) for name in columns]
