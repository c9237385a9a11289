"""Files of every released format open: a model and a certificate, verified with the rows that they are about.

``python -m tests.test_fixtures`` writes the files of the present format; files of older formats are kept for ever.
"""

import json
import logging
from pathlib import Path

import numpy as np
import pytest

import surefit
from surefit.core.errors import CertificateError

FOLDER = Path(__file__).parent / "fixtures"
X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 5.0], [4.0, 2.0], [5.0, 3.0]])
y = np.array([1.0, 2.0, 2.0, 7.0, 5.0, 8.0])
MODELS = {"lasso": surefit.Lasso(alpha=0.25), "tree": surefit.DecisionTreeRegressor(max_depth=2)}


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.surefit")), ids=lambda file: file.name)
def test_model_files_open_and_verify(file):
    model = surefit.load(file)
    assert model.certificate_.verify(X, y).checker == f"surefit {surefit.__version__}"
    fresh = MODELS[file.stem.split("-")[0]].fit(X, y)
    np.testing.assert_allclose(model.predict(X), fresh.predict(X), rtol=1e-6)


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.json")), ids=lambda file: file.name)
def test_certificate_files_open_and_verify(file):
    certificate = surefit.Certificate.from_json(file.read_text(encoding="utf-8"))
    assert certificate.version and certificate.format == json.loads(file.read_text(encoding="utf-8"))["schema"]
    certificate.verify(X, y)


def test_there_is_a_file_of_the_present_format():
    from surefit.core.encoding import SCHEMA_NAME
    from surefit.persistence.models import FORMAT

    for name in MODELS:
        assert (FOLDER / f"{name}-{FORMAT}.surefit").exists()
        assert (FOLDER / f"{name}-{SCHEMA_NAME}.json").exists()


def test_another_format_is_named_with_the_version_that_reads_it():
    content = json.loads(next(FOLDER.glob("lasso*.json")).read_text(encoding="utf-8"))
    content |= {"schema": "surefit-certificate-1", "version": "0.0.9"}
    with pytest.raises(
        CertificateError,
        match="surefit 0.0.9 wrote it in the format surefit-certificate-1.*verify it with surefit 0.0.9",
    ):
        surefit.Certificate.from_json(json.dumps(content))


def test_diagnostics_go_through_logging(caplog, tmp_path):
    with caplog.at_level(logging.DEBUG, logger="surefit"):
        surefit.save(MODELS["lasso"].fit(X, y), tmp_path / "m")
        surefit.load(tmp_path / "m")
    assert {record.name for record in caplog.records} == {"surefit.fit", "surefit.persistence"}
    assert any("Lasso" in record.getMessage() for record in caplog.records)


def main() -> None:
    """Write the files of the present format."""
    from surefit.core.encoding import SCHEMA_NAME
    from surefit.persistence.models import FORMAT

    for name, model in MODELS.items():
        surefit.save(model.fit(X, y), FOLDER / f"{name}-{FORMAT}.surefit", overwrite=True)
        (FOLDER / f"{name}-{SCHEMA_NAME}.json").write_text(
            model.certificate_.to_json(indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
