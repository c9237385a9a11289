"""Thirty tables in the shapes that people have: what is in the file, and what a study should make of it."""

import gzip
import io
from typing import NamedTuple

import numpy as np
import polars
from sklearn.datasets import load_iris


class Shape(NamedTuple):
    """A file, the words of the command, and what is expected: task, kinds of some columns, families that would be odd."""

    content: bytes
    words: tuple[str, ...]
    task: str
    kinds: dict[str, str]
    name: str = "data.csv"
    learnable: bool = True
    odd: tuple[str, ...] = ()


def rng_of(seed):
    return np.random.default_rng(seed)


def csv(frame, separator=",", encoding="utf-8", **options):
    return frame.write_csv(separator=separator, **options).encode(encoding)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def churn(n=800):
    rng = rng_of(0)
    tenure, charge = rng.integers(0, 72, n), rng.uniform(20, 120, n).round(2)
    plan = rng.choice(["month-to-month", "one year", "two years"], n, p=[0.5, 0.3, 0.2])
    p = sigmoid(0.5 - 0.06 * tenure + 0.02 * charge - 1.5 * (plan == "two years"))
    frame = polars.DataFrame(
        {
            "customerID": [f"{rng.integers(1000, 9999)}-{i:04d}" for i in range(n)], "tenure": tenure, "MonthlyCharges": charge,
            "Contract": plan, "Senior": rng.integers(0, 2, n), "Paperless": rng.choice(["Yes", "No"], n),
            "Churn": np.where(rng.random(n) < p, "Yes", "No"),
        }
    )  # fmt: skip
    kinds = {"customerID": "identifier", "tenure": "number", "Contract": "category", "Paperless": "boolean"}
    return Shape(csv(frame), ("-t", "Churn"), "classification", kinds)


def housing(n=500):
    rng = rng_of(1)
    area, age = rng.uniform(40, 250, n).round(1), rng.integers(0, 80, n)
    town = rng.choice(["north", "south", "east"], n)
    price = 1500 * area - 800 * age + 40_000 * (town == "south") + rng.normal(size=n) * 20_000 + 50_000
    frame = polars.DataFrame({"area": area, "age": age, "town": town, "price": [f"${v:,.2f}" for v in price]})
    return Shape(csv(frame), ("-t", "price"), "regression", {"area": "number", "town": "category"})


def european(n=400):
    rng = rng_of(2)
    x, y = rng.uniform(0, 5000, n), rng.normal(size=n)
    number = lambda v: f"{v:,.2f}".translate(str.maketrans(",.", ".,"))  # noqa: E731
    days = rng.integers(0, 1000, n)
    dates = [(np.datetime64("2019-01-01") + int(d)).item().strftime("%d.%m.%Y") for d in days]
    frame = polars.DataFrame(
        {"Umsatz": map(number, x), "Datum": dates, "Gewinn": map(number, 0.3 * x + days + 100 * y)}, strict=False
    )
    return Shape(csv(frame, ";", "latin-1"), ("-t", "Gewinn"), "regression", {"Umsatz": "number", "Datum": "date"})


def survey(n=500):
    rng = rng_of(3)
    age, income = rng.integers(18, 90, n).astype(float), rng.lognormal(10, 0.5, n).round()
    happy = np.where(sigmoid(0.05 * (age - 50) + 1.2 * (income > 25000) - 0.5) > rng.random(n), "agree", "disagree")
    text = [str(a) if rng.random() > 0.1 else rng.choice(["NA", "", "?"]) for a in age]
    money = [str(v) if rng.random() > 0.2 else "refused" for v in income]
    where = [rng.choice(["urban", "rural"]) if rng.random() > 0.15 else "n/a" for _ in range(n)]
    frame = polars.DataFrame({"age": text, "income": money, "where": where, "happy": happy})
    return Shape(
        csv(frame), ("-t", "happy"), "classification", {"age": "number", "income": "number", "where": "category"}
    )


def genes():
    rng = rng_of(4)
    X, label = rng.normal(size=(60, 1500)), np.repeat(["tumor", "normal"], 30)
    X[:30, :20] += 1.2
    frame = polars.DataFrame({f"g{j}": X[:, j] for j in range(1500)} | {"kind": label})
    return Shape(csv(frame), ("-t", "kind"), "classification", {"g0": "number"})


def spam(n=400):
    rng = rng_of(5)
    good, bad = ["meeting", "project", "monday", "report", "thanks"], ["free", "winner", "cash", "prize", "click"]
    common = ["the", "and", "you", "for", "with", "this"]
    label = rng.choice(["spam", "ham"], n)
    texts = [
        " ".join(rng.choice([*(bad if k == "spam" else good), *common, *common], 9)) + f" {i}"
        for i, k in enumerate(label)
    ]
    return Shape(csv(polars.DataFrame({"message": texts, "label": label})), (), "classification", {"message": "text"})


def dated(n=400):
    rng = rng_of(6)
    start = np.datetime64("2020-01-01")
    days = np.arange(n)
    promo = rng.integers(0, 2, n)
    visits = 100 + 30 * promo + 0.05 * days + rng.normal(size=n) * 5
    frame = polars.DataFrame({"day": [str(start + int(d)) for d in days], "promo": promo, "visits": visits.round(1)})
    return Shape(csv(frame), ("-t", "visits", "--time", "day"), "regression", {"day": "time", "promo": "number"})


def american_dates(n=300):
    rng = rng_of(7)
    days = rng.integers(0, 700, n)
    dates = [(np.datetime64("2021-01-01") + int(d)).item().strftime("%m/%d/%Y") for d in days]
    frame = polars.DataFrame(
        {"sold": dates, "size": rng.uniform(1, 9, n), "price": days * 0.5 + rng.normal(size=n) * 10}
    )
    return Shape(csv(frame), ("-t", "price"), "regression", {"sold": "date"})


def patients(n=240):
    rng = rng_of(8)
    who = np.repeat(np.arange(n // 4), 4)
    base = rng.normal(size=n // 4)[who]
    x = base + rng.normal(size=n) * 0.3
    frame = polars.DataFrame(
        {
            "patient": [f"p{i}" for i in who],
            "x": x,
            "z": rng.normal(size=n),
            "sick": (base + rng.normal(size=n) * 0.3 > 0),
        }
    )
    return Shape(csv(frame), ("-t", "sick", "--group", "patient"), "classification", {"patient": "group"})


def rare(n=1500):
    rng = rng_of(9)
    x, z = rng.normal(size=n), rng.normal(size=n)
    fraud = (x + 0.5 * z + rng.normal(size=n) * 0.4 > 2.2).astype(int)
    return Shape(
        csv(polars.DataFrame({"x": x, "z": z, "fraud": fraud})), ("-t", "fraud"), "classification", {"x": "number"}
    )


def nonlinear(n=800):
    rng = rng_of(10)
    X = rng.uniform(-2, 2, size=(n, 4))
    y = np.sin(2 * X[:, 0]) * 2 + X[:, 1] ** 2 + (X[:, 2] > 0) + 0.2 * rng.normal(size=n)
    return Shape(
        csv(polars.DataFrame({f"x{j}": X[:, j] for j in range(4)} | {"y": y})),
        (),
        "regression",
        {"x0": "number"},
        odd=("linear",),
    )


def circles(n=500):
    rng = rng_of(11)
    angle, radius = rng.uniform(0, 2 * np.pi, n), np.where(np.arange(n) % 2, 1.0, 2.0) + 0.15 * rng.normal(size=n)
    frame = polars.DataFrame(
        {"a": radius * np.cos(angle), "b": radius * np.sin(angle), "ring": np.where(np.arange(n) % 2, "inner", "outer")}
    )
    return Shape(csv(frame), ("-t", "ring"), "classification", {"a": "number"}, odd=("linear",))


def noise(n=200):
    rng = rng_of(12)
    frame = polars.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n), "y": rng.normal(size=n)})
    return Shape(csv(frame), (), "regression", {}, learnable=False)


def ratings(n=400):
    rng = rng_of(13)
    x = rng.normal(size=n)
    stars = np.clip(np.round(3 + 1.2 * x + 0.5 * rng.normal(size=n)), 1, 5).astype(int)
    return Shape(
        csv(polars.DataFrame({"x": x, "z": rng.normal(size=n), "stars": stars})), ("-t", "stars"), "classification", {}
    )


def stars_as_numbers():
    return ratings()._replace(words=("-t", "stars", "--task", "regression"), task="regression")


def weighted(n=300):
    rng = rng_of(14)
    x = rng.normal(size=n)
    frame = polars.DataFrame({"x": x, "w": rng.integers(0, 5, n), "y": 2 * x + rng.normal(size=n)})
    return Shape(csv(frame), ("--weight", "w"), "regression", {"w": "weight"})


def many_classes(n=900):
    rng = rng_of(15)
    k = rng.integers(0, 12, n)
    X = rng.normal(size=(12, 5))[k] * 3 + rng.normal(size=(n, 5))
    return Shape(
        csv(polars.DataFrame({f"x{j}": X[:, j] for j in range(5)} | {"kind": [f"k{i}" for i in k]})),
        ("-t", "kind"),
        "classification",
        {},
    )


def high_cardinality(n=600):
    rng = rng_of(16)
    city = rng.integers(0, 150, n)
    effect = rng.normal(size=150)[city]
    frame = polars.DataFrame({"city": [f"city {i}" for i in city], "x": rng.normal(size=n)}).with_columns(
        y=polars.Series(np.where(city < 5, 3.0, 0.0) + 2 * rng.normal(size=n) * 0.1 + effect * 0.1)
        + 2 * polars.col("x")
    )
    return Shape(csv(frame), (), "regression", {"city": "category"})


def pandas_index():
    rng = rng_of(17)
    rows = "".join(f"{i},{x:.4f},{'a' if x > 0 else 'b'}\n" for i, x in enumerate(rng.normal(size=100)))
    return Shape((",x,label\n" + rows).encode(), (), "classification", {"x": "number"})


def utf16_tabs(n=150):
    rng = rng_of(18)
    x = rng.normal(size=n)
    frame = polars.DataFrame(
        {"größe": x, "farbe": rng.choice(["rot", "grün"], n), "y": 3 * x + rng.normal(size=n) * 0.5}
    )
    return Shape(csv(frame, "\t", "utf-16"), (), "regression", {"größe": "number", "farbe": "category"})


def packed(n=200):
    rng = rng_of(19)
    x = rng.normal(size=n)
    return Shape(
        gzip.compress(csv(polars.DataFrame({"x": x, "y": np.exp(x)}))), (), "regression", {"x": "number"}, "data.csv.gz"
    )


def parquet(n=300):
    rng = rng_of(20)
    x = rng.normal(size=n)
    frame = polars.DataFrame(
        {
            "flag": rng.random(n) > 0.5,
            "x": x,
            "when": np.datetime64("2020-01-01") + rng.integers(0, 99, n),
            "y": x > 0.2,
        }
    )
    buffer = io.BytesIO()
    frame.with_columns(polars.col("when").cast(polars.Date)).write_parquet(buffer)
    return Shape(buffer.getvalue(), (), "classification", {"flag": "boolean", "when": "date"}, "data.parquet")


def libsvm(n=200):
    rng = rng_of(21)
    X = rng.normal(size=(n, 3))
    rows = "".join(f"{1 if r[0] + r[1] > 0 else -1} 1:{r[0]:.3f} 2:{r[1]:.3f} 3:{r[2]:.3f}\n" for r in X)
    return Shape(rows.encode(), (), "classification", {"x1": "number"}, "data.libsvm")


def percents(n=200):
    rng = rng_of(22)
    rate = rng.uniform(0, 30, n)
    frame = polars.DataFrame(
        {
            "rate": [f"{v:.1f} %" for v in rate],
            "cost": [f"EUR {v:.0f}" for v in 1000 + 50 * rate + rng.normal(size=n) * 20],
        }
    )
    return Shape(csv(frame), ("-t", "cost"), "regression", {"rate": "number"})


def tiny():
    rows = "".join(f"{i},{i * 2.5 + (i % 3)}\n" for i in range(12))
    return Shape(("x,y\n" + rows).encode(), ("-c", "x:number"), "regression", {"x": "number"})


def categories_only(n=400):
    rng = rng_of(23)
    a, b = rng.choice(["p", "q", "r"], n), rng.choice(["u", "v"], n)
    y = np.where((a == "p") ^ (b == "u") ^ (rng.random(n) < 0.1), "yes", "no")
    return Shape(
        csv(polars.DataFrame({"a": a, "b": b, "bought": y})), ("-t", "bought"), "classification", {"a": "category"}
    )


def balanced_weights():
    return rare()._replace(words=("-t", "fraud", "--class-weight", "balanced"))


def iris():
    data = load_iris()
    frame = polars.DataFrame(
        dict(zip(["sepal_length", "sepal_width", "petal_length", "petal_width"], data.data.T, strict=True))
    )
    species = polars.Series(data.target_names[data.target])
    kinds = {"petal_length": "number", "sepal_width": "number"}
    return Shape(csv(frame.with_columns(species=species)), ("-t", "species"), "classification", kinds)


def sensors(n=600):
    rng = rng_of(25)
    when = np.datetime64("2024-03-01T00:00:00", "us") + np.arange(n) * np.timedelta64(3600, "s")
    hour, room = np.arange(n) % 24, rng.choice(["lab", "hall"], n)
    heat = 18 + 4 * np.sin(2 * np.pi * (hour - 8) / 24) + 2 * (room == "lab") + rng.normal(size=n) * 0.5
    frame = polars.DataFrame({"when": when, "room": room, "open": rng.random(n) > 0.5, "heat": heat})
    buffer = io.BytesIO()
    frame.write_ipc(buffer)
    kinds = {"when": "date", "room": "category", "open": "boolean"}
    return Shape(buffer.getvalue(), ("-t", "heat"), "regression", kinds, "data.arrow", odd=("linear",))


def large(n=100_000):
    rng = rng_of(24)
    X = rng.normal(size=(n, 6)).round(3)
    group = rng.choice(["a", "b", "c", "d"], n)
    p = sigmoid(X[:, 0] - X[:, 1] + (group == "a") + 0.5 * X[:, 2] * X[:, 3])
    frame = polars.DataFrame(
        {f"x{j}": X[:, j] for j in range(6)}
        | {"group": group, "id": np.arange(n), "y": np.where(rng.random(n) < p, "yes", "no")}
    )
    return Shape(csv(frame), (), "classification", {"group": "category", "id": "identifier"})


SHAPES = [
    churn, housing, european, survey, genes, spam, dated, american_dates, patients, rare, nonlinear, circles, noise, ratings,
    stars_as_numbers, weighted, many_classes, high_cardinality, pandas_index, utf16_tabs, packed, parquet, libsvm, percents, tiny,
    categories_only, balanced_weights, large, iris, sensors,
]  # fmt: skip
