"""Linear regression on one column of the diabetes data."""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_squared_error, r2_score
from sklearn.model_selection import train_test_split

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X[:, [2]], y, test_size=20, shuffle=False)
regressor = LinearRegression().fit(X_train, y_train)
print(f"{mean_squared_error(y_test, regressor.predict(X_test)):.2f} {r2_score(y_test, regressor.predict(X_test)):.2f}")
assert abs(mean_squared_error(y_test, regressor.predict(X_test)) - 2548.07) < 0.01
