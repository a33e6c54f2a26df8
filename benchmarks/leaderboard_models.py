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
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.svm import SVC, SVR

    if split.task == "regression":
        return _Scaled(SVR(cache_size=1000), split.y), *_numbers(split)
    if len(np.unique(split.y)) == 2:
        return SVC(cache_size=1000), *_numbers(split)
    return CalibratedClassifierCV(SVC(cache_size=1000), ensemble=False, cv=3), *_numbers(split)


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


def realmlp(split):
    from pytabkit import RealMLP_TD_Classifier, RealMLP_TD_Regressor

    kind = RealMLP_TD_Regressor if split.task == "regression" else RealMLP_TD_Classifier
    return kind(device="cpu", random_state=0, n_threads=THREADS), split.X, split.X_test


def tabm(split):
    from pytabkit import TabM_D_Classifier, TabM_D_Regressor

    kind = TabM_D_Regressor if split.task == "regression" else TabM_D_Classifier
    return kind(device="cpu", random_state=0, n_threads=THREADS), split.X, split.X_test


def autogluon(split):
    return _AutoGluon(split.task), split.X, split.X_test


#: Models that take minutes for a thousand rows; they are asked for by name.
EXTRA = ("realmlp", "tabm", "autogluon")

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
    "realmlp": realmlp,
    "tabm": tabm,
    "autogluon": autogluon,
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
        if self.task == "regression":
            out = np.asarray(self.model.predict(X.astype(np.float32)))
            return out.ravel() * self.scale + self.mean
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(self, X):
        found = np.asarray(self.model.predict_proba(X.astype(np.float32)))
        found = found.reshape(len(X), -1)
        return np.column_stack([1 - found[:, 0], found[:, 0]]) if found.shape[1] == 1 else found


class _AutoGluon:
    """AutoGluon with its models that train without downloaded weights, five minutes at most."""

    def __init__(self, task):
        self.task = task

    def fit(self, X, y):
        import tempfile

        from autogluon.tabular import TabularPredictor

        self.folder = tempfile.TemporaryDirectory()
        metric = {"problem_type": "regression", "eval_metric": "rmse"} if self.task == "regression" else {}
        self.model = TabularPredictor("target", path=self.folder.name, verbosity=0, **metric)
        self.model.fit(X.assign(target=y), time_limit=300, presets="good_quality", num_cpus=THREADS)
        return self

    def predict(self, X):
        return self.model.predict(X).to_numpy()

    def predict_proba(self, X):
        return self.model.predict_proba(X).to_numpy()
