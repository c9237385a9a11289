"""k-means on blobs and the silhouette of its clusters."""

from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, silhouette_score

X, y = make_blobs(150, centers=3, cluster_std=0.6, random_state=0)
model = KMeans(n_clusters=3, n_init=3, random_state=0).fit(X)
print(model.inertia_, silhouette_score(X, model.labels_))
assert adjusted_rand_score(y, model.labels_) > 0.9 and model.transform(X).shape == (150, 3)
