"""``surefit export``: write the model of a file as an ONNX graph."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from surefit.cli import options as shared


def export(
    model: Annotated[
        Path, typer.Argument(help="Model file that surefit fit or surefit.save wrote.", show_default=False)
    ],
    out: Annotated[Path, typer.Argument(help="ONNX file to write, such as model.onnx.", show_default=False)],
    force: Annotated[bool, typer.Option("--force", "-f", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a model as an ONNX graph, which other programs evaluate without Python.

    The graph of a model that surefit fit wrote has one input, features: one column for each encoded feature, in the order that the
    command prints. Its outputs are the prediction, or the class and the calibrated probabilities. The graph computes in
    single precision.

    For example:

      surefit export model.surefit model.onnx
    """
    shared.require_packages("onnx", "skl2onnx")
    from surefit.export.onnx import to_onnx
    from surefit.persistence import load, write_file
    from surefit.studies import TableModel
    from surefit.studies.onnx_graph import table_graph

    shared.require_new(out, "OUT", force)
    fitted = load(model)
    graph = table_graph(fitted) if isinstance(fitted, TableModel) else to_onnx(fitted)
    write_file(out, graph.SerializeToString(), overwrite=force)
    typer.echo(f"Written: {out} ({graph.graph.doc_string or 'input X, columns as in the fit'})", err=True)
