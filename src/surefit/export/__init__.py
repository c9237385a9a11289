"""Fitted models in the formats of other libraries: scikit-learn, ONNX, and drawings of trees."""
