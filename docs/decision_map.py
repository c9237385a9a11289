"""Draw the decision map of the page "Which model?": three ladders of questions, each with the model to try when the answer is yes."""

import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

MAP = {
    "Predict a number": [
        ("Coefficients with standard errors?", "LinearRegression"),
        ("Many features, few of which matter?", "Lasso, ElasticNet"),
        ("Outliers, or a median or quantile wanted?", "LeastAbsoluteDeviations, QuantileRegressor"),
        ("Counts?", "PoissonRegressor"),
        ("Positive amounts, perhaps with zeros?", "GammaRegressor, TweedieRegressor"),
        ("A smooth curve in one variable?", "SmoothingSpline"),
        ("A smooth surface with error bars, up to 5 000 rows?", "GaussianProcessRegressor"),
        ("Mixed columns, interactions, missing values?", "HistGradientBoostingRegressor"),
        ("Otherwise", "Ridge"),
    ],
    "Predict a class": [
        ("Probabilities and coefficients?", "LogisticRegression"),
        ("Text or other sparse features?", "LinearSVC"),
        ("A curved boundary, up to 20 000 rows?", "SVC"),
        ("A curved boundary, more rows?", "NystroemSVC"),
        ("Rules that people can read?", "DecisionTreeClassifier"),
        ("Mixed columns, interactions, missing values?", "HistGradientBoostingClassifier"),
        ("Roughly normal classes, few rows?", "LinearDiscriminantAnalysis"),
        ("A meaningful distance between rows?", "KNeighborsClassifier"),
        ("Otherwise", "RandomForestClassifier"),
    ],
    "No target": [
        ("Compact groups?", "KMeans"),
        ("Overlapping or elongated groups?", "GaussianMixture"),
        ("A hierarchy of groups?", "AgglomerativeClustering"),
        ("Outliers or novelties?", "OneClassSVM"),
        ("A density?", "KernelDensity"),
        ("Fewer dimensions?", "PCA, KernelPCA"),
    ],
}
COLORS = ("#0072B2", "#D55E00", "#009E73")
ROW = 0.52  # height of a row, in inches


def box(axes, x, y, width, text, color, *, filled):
    """Draw a rounded box around a text."""
    style = "round,pad=0.02,rounding_size=0.08"
    face = color if filled else "white"
    axes.add_patch(
        FancyBboxPatch((x, y - 0.16), width, 0.32, boxstyle=style, facecolor=face, edgecolor=color, linewidth=1.2)
    )
    axes.text(x + width / 2, y, text, ha="center", va="center", fontsize=9.5, color="white" if filled else "#1b2733")


def draw():
    """Draw all ladders into one figure."""
    height = ROW * sum(len(rungs) + 1.3 for rungs in MAP.values())
    figure = plt.figure(figsize=(8.0, height), layout="none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, 8.0), ylim=(0, height))
    axes.axis("off")
    y = height - 0.35
    for (title, rungs), color in zip(MAP.items(), COLORS, strict=True):
        box(axes, 0.1, y, 3.9, title, color, filled=True)
        for question, model in rungs:
            axes.annotate("", (2.05, y - ROW + 0.19), (2.05, y - 0.19), arrowprops={"arrowstyle": "->", "color": color})
            y -= ROW
            box(axes, 0.1, y, 3.9, question, color, filled=False)
            axes.annotate("", (4.68, y), (4.04, y), arrowprops={"arrowstyle": "->", "color": color})
            if question != "Otherwise":
                axes.text(4.34, y + 0.03, "yes", ha="center", va="bottom", fontsize=8, color=color)
            box(axes, 4.7, y, 3.2, model, color, filled=False)
        y -= 1.3 * ROW
    return figure


draw()
