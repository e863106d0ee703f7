"""Predicts a house's price: what a user writes who knows pandas and scikit-learn, and nothing of copies."""

# SPDX-License-Identifier: MIT
import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

HOUSES = 60_000
NUMBERS = ["area", "rooms", "age", "distance", "floor", "garden"]


def read():
    """A table as `read_csv` gives it."""
    random = np.random.default_rng(7)
    table = {name: random.random(HOUSES) * 100 for name in NUMBERS}
    frame = pd.DataFrame(table)
    frame["town"] = random.choice(["north", "south", "east"], HOUSES)
    frame["price"] = frame["area"] * 30 - frame["age"] * 4 + random.normal(0, 20, HOUSES)
    return frame


def clean(frame):
    """Without houses that are no houses."""
    kept = frame[frame["area"] > 1]
    kept = kept.reset_index(drop=True)
    return kept.fillna({"garden": 0.0})


def features(frame):
    """Numbers, and a column for each town."""
    towns = pd.get_dummies(frame["town"], dtype=float)
    numbers = frame[NUMBERS]
    table = pd.concat([numbers, towns], axis=1)
    matrix = table.to_numpy()
    matrix = matrix.astype(np.float64)
    return matrix


def scaled(matrix):
    """Each column with the same spread."""
    scaler = StandardScaler()
    found = scaler.fit_transform(matrix)
    found = np.array(found)
    return found


def main():
    """Fit, and say how wrong the prices are."""
    frame = clean(read())
    matrix = scaled(features(frame))
    price = frame["price"].to_numpy(copy=True)
    train, test, price_train, price_test = train_test_split(matrix, price, random_state=7)
    model = LinearRegression()
    model.fit(train, price_train)
    guess = model.predict(test)
    table = pd.DataFrame(test)
    table["guess"] = guess
    print(f"{len(table)} houses, wrong by {mean_absolute_error(price_test, guess):.3f}")


main()
