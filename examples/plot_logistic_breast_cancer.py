"""
Logistic regression: which features of a tumor have the largest coefficients?
=============================================================================

Standardized features and an l2 penalty; the certificate bounds how far any probability is from that of the exact optimum.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from surefit import LogisticRegression

data = load_breast_cancer()
X = StandardScaler().fit_transform(data.data)
model = LogisticRegression(C=0.5).fit(X, data.target)
print(model.certificate_)

order = np.argsort(np.abs(model.coef_[0]))[-10:]
figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
axes.barh(np.arange(10), model.coef_[0][order])
axes.set(yticks=np.arange(10), yticklabels=data.feature_names[order], xlabel="coefficient (positive: benign)")
plt.show()
