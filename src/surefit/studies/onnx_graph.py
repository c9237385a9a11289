"""The predictor of a table model as an ONNX graph: standardization, estimator, calibration, decision."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.errors import InvalidData
from surefit.export.onnx import to_onnx
from surefit.studies.calibration import TINY

_DOCUMENT = "Columns of features, in this order: {}. Numbers as in the table (missing ones as their median), categories as 0 and 1."


def table_graph(model: Any) -> Any:
    """Return the ONNX graph of a :class:`TableModel`, from features before standardization to predictions.

    Input ``features`` has one column per feature, named in the graph's ``doc_string``. A regression has the output ``prediction``; a
    classification has ``label`` (text) and ``probabilities``, calibrated as in ``surefit predict``.
    """
    from onnx import checker, compose, helper

    predictor, encoder = model.predictor_, model.encoder_
    inner = compose.add_prefix(to_onnx(predictor.estimator_), "estimator_")
    graph = _Graph(inner)
    X = graph.prefix(encoder.means_, encoder.scales_)
    if predictor.is_classifier:
        outputs = _classification(graph, predictor)
    else:
        found = graph.node("Mul", graph.output(0), graph.constant([[predictor.scale_]]))
        graph.node("Add", found, graph.constant([[predictor.shift_ + predictor.offset_]]), name="prediction")
        outputs = [("prediction", helper.TensorProto.FLOAT, [None, 1])]
    values = [helper.make_tensor_value_info(*each) for each in outputs]
    whole = helper.make_graph(
        graph.nodes,
        "surefit",
        [X],
        values,
        initializer=graph.initializers,
        doc_string=_DOCUMENT.format(", ".join(encoder.feature_names_)),
    )
    proto = helper.make_model(whole, opset_imports=inner.opset_import, producer_name="surefit")
    proto.ir_version = inner.ir_version
    checker.check_model(proto)
    return proto


def _classification(graph: _Graph, predictor: Any) -> list[tuple]:
    from onnx import TensorProto

    known = np.asarray(predictor.estimator_.classes_)
    if not hasattr(predictor.estimator_, "predict_proba") or len(known) != len(predictor.classes_):
        name = type(predictor.estimator_).__name__
        raise InvalidData(f"surefit export: this {name} has no probability for each class; choose another family.")
    K = len(known)
    floor = graph.node("Max", graph.output(1), graph.constant([[TINY]]))
    scores = graph.node("Mul", graph.node("Log", floor), graph.constant([[predictor.slope_]]))
    intercepts = np.broadcast_to(np.asarray(predictor.intercepts_ if len(predictor.intercepts_) else 0.0), (K,))
    shifted = graph.node("Add", scores, graph.constant([intercepts.tolist()]))
    p = graph.node("Softmax", shifted, name="probabilities", axis=1)
    best = graph.node(
        "ArgMax",
        graph.node("Mul", p, graph.constant([np.broadcast_to(predictor.decision_, (K,)).tolist()])),
        axis=1,
        keepdims=0,
    )
    names = graph.constant([str(label) for label in predictor.classes_])
    graph.node("Gather", names, best, name="label", axis=0)
    return [("label", TensorProto.STRING, [None]), ("probabilities", TensorProto.FLOAT, [None, K])]


class _Graph:
    """Nodes and constants around those of a converted estimator."""

    def __init__(self, inner: Any):
        self.inner = inner.graph
        self.nodes = list(inner.graph.node)
        self.initializers = list(inner.graph.initializer)

    def output(self, place: int) -> str:
        return self.inner.output[place].name

    def constant(self, values: list) -> str:
        from onnx import helper, numpy_helper

        name = f"surefit_constant_{len(self.initializers)}"
        if isinstance(values[0], str):
            texts = [text.encode() for text in values]
            self.initializers.append(helper.make_tensor(name, helper.TensorProto.STRING, [len(texts)], texts))
        else:
            self.initializers.append(numpy_helper.from_array(np.array(values, dtype=np.float32), name))
        return name

    def node(self, kind: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        from onnx import helper

        name = name or f"surefit_{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def prefix(self, means: np.ndarray, scales: np.ndarray) -> Any:
        """Add the standardization in front of the estimator; return the new input."""
        from onnx import helper

        own = self.inner.input[0].name
        rest, self.nodes = self.nodes, []
        centered = self.node("Sub", "features", self.constant([means.tolist()]))
        self.nodes.append(helper.make_node("Div", [centered, self.constant([scales.tolist()])], [own]))
        self.nodes += rest
        return helper.make_tensor_value_info("features", helper.TensorProto.FLOAT, [None, len(means)])
