"""The models of the leaderboard with their default settings, each with the input format that suits it best."""

from __future__ import annotations

import numpy as np

THREADS = 2


def mercer_model(effort):
    def make(split):
        from mercer.auto import MercerClassifier, MercerRegressor

        kind = MercerRegressor if split.task == "regression" else MercerClassifier
        return kind(effort=effort), split.X, split.X_test

    return make


def lightgbm(split):
    import lightgbm as peer

    kind = peer.LGBMRegressor if split.task == "regression" else peer.LGBMClassifier
    return kind(verbose=-1, n_jobs=THREADS), split.X, split.X_test


def xgboost(split):
    import xgboost as peer

    kind = peer.XGBRegressor if split.task == "regression" else peer.XGBClassifier
    return kind(enable_categorical=True, n_jobs=THREADS), split.X, split.X_test


def catboost(split):
    import catboost as peer

    kind = peer.CatBoostRegressor if split.task == "regression" else peer.CatBoostClassifier
    names = categories(split)
    model = kind(verbose=0, thread_count=THREADS, cat_features=names, allow_writing_files=False)
    return model, split.X, split.X_test


def hist_gradient_boosting(split):
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    kind = HistGradientBoostingRegressor if split.task == "regression" else HistGradientBoostingClassifier
    return kind(categorical_features="from_dtype", random_state=0), *_few_categories(split)


def ebm(split):
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    # Two bags instead of fourteen: on two cores the defaults take minutes for a thousand rows.
    kind = ExplainableBoostingRegressor if split.task == "regression" else ExplainableBoostingClassifier
    return kind(n_jobs=THREADS, outer_bags=2, random_state=0), split.X, split.X_test


def xrfm(split):
    from xrfm import xRFM

    model = xRFM(device="cpu", tuning_metric="mse" if split.task == "regression" else "accuracy")
    return _WithValidation(model, split.task), *_numbers(split)


def svm(split):
    from sklearn.svm import SVC, SVR

    y = split.y
    model = _Scaled(SVR(cache_size=1000), y) if split.task == "regression" else SVC(cache_size=1000)
    return model, *_numbers(split)


def linear(split):
    from sklearn.linear_model import LogisticRegression, RidgeCV

    model = RidgeCV(np.geomspace(1e-3, 1e4, 15)) if split.task == "regression" else LogisticRegression(max_iter=1000)
    return model, *_numbers(split)


def nystroem(split):
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LogisticRegression, RidgeCV
    from sklearn.pipeline import make_pipeline

    X, X_test = _numbers(split)
    head = (
        RidgeCV(np.geomspace(1e-3, 1e3, 13)) if split.task == "regression" else LogisticRegression(C=10, max_iter=500)
    )
    features = Nystroem(gamma=1 / X.shape[1], n_components=min(1000, len(X) // 2), random_state=0)
    return make_pipeline(features, head), X, X_test


MODELS = {
    "mercer": mercer_model("normal"),
    "mercer-fast": mercer_model("fast"),
    "mercer-high": mercer_model("high"),
    "lightgbm": lightgbm,
    "xgboost": xgboost,
    "catboost": catboost,
    "hist-gb": hist_gradient_boosting,
    "ebm": ebm,
    "xrfm": xrfm,
    "svm": svm,
    "linear": linear,
    "nystroem": nystroem,
}


def categories(split) -> list[str]:
    return [name for name in split.X.columns if str(split.X[name].dtype) == "category"]


def _numbers(split):
    """Impute medians, scale to unit variance, and encode categories by indicators."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    words = categories(split)
    others = [name for name in split.X.columns if name not in words]
    encoder = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), others),
        (OneHotEncoder(handle_unknown="ignore", min_frequency=10, sparse_output=False), words),
    )
    return encoder.fit_transform(split.X), encoder.transform(split.X_test)


def _few_categories(split):
    """Replace columns of more categories than the model supports (255) by numbers."""
    X, X_test = split.X.copy(), split.X_test.copy()
    for name in categories(split):
        if len(X[name].cat.categories) > 250:
            X[name], X_test[name] = X[name].cat.codes.astype(float), X_test[name].cat.codes.astype(float)
    return X, X_test


class _Scaled:
    """A regressor that scales its targets to unit variance, which some models need."""

    def __init__(self, model, y):
        self.model, self.mean, self.scale = model, float(np.mean(y)), float(np.std(y)) or 1.0

    def fit(self, X, y):
        self.model.fit(X, (y - self.mean) / self.scale)
        return self

    def predict(self, X):
        return self.model.predict(X) * self.scale + self.mean


class _WithValidation:
    """xRFM selects its round on validation rows, a fifth of the training rows."""

    def __init__(self, model, task):
        self.model, self.task = model, task

    def fit(self, X, y):
        cut = int(0.8 * len(X))
        order = np.random.default_rng(0).permutation(len(X))
        X, y = X[order].astype(np.float32), y[order].astype(np.float32 if self.task == "regression" else int)
        self.mean, self.scale = (y.mean(), y.std() or 1.0) if self.task == "regression" else (0, 1)
        y = (y - self.mean) / self.scale if self.task == "regression" else y
        self.model.fit(X[:cut], y[:cut], X[cut:], y[cut:])
        return self

    def predict(self, X):
        out = np.asarray(self.model.predict(X.astype(np.float32)))
        if self.task == "regression":
            return out.ravel() * self.scale + self.mean
        return out.argmax(axis=1) if out.ndim == 2 and out.shape[1] > 1 else out.ravel().round().astype(int)
