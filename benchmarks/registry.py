"""All benchmarks: one row each, a module of this folder with a function `run`."""

from __future__ import annotations

from typing import NamedTuple

GROUPS = ("speed", "accuracy", "memory", "scale")


class Benchmark(NamedTuple):
    """A module with `run()`, its group, and what it compares."""

    name: str
    group: str
    title: str


BENCHMARKS = (
    Benchmark("random_features", "speed", "random features against RBFSampler and the bare product"),
    Benchmark("sketches", "speed", "polynomial sketches against PolynomialCountSketch"),
    Benchmark("lifts", "speed", "polynomial lifts against PolynomialFeatures"),
    Benchmark("landmarks", "speed", "landmarks against Nystroem; Falkon against Nystroem and Ridge"),
    Benchmark("projections", "speed", "projections against scikit-learn's"),
    Benchmark("machines", "speed", "kernel machines against KernelRidge and SVC"),
    Benchmark("linear", "speed", "ridge paths and logistic regression against scikit-learn"),
    Benchmark("trees", "speed", "boosted trees against scikit-learn and LightGBM"),
    Benchmark("learning_dictionary", "speed", "sparse codes, dictionaries and PCA against scikit-learn and SPAMS"),
    Benchmark("selection_filters", "speed", "filters against SciPy and scikit-learn"),
    Benchmark("selection_greedy", "speed", "forward selection against fastcan and scikit-learn"),
    Benchmark("selection_l1", "speed", "paths of the Lasso against celer, skglm and scikit-learn"),
    Benchmark("sequences", "speed", "string kernels and hashing against scikit-learn"),
    Benchmark("text", "speed", "text features against scikit-learn's vectorizers"),
    Benchmark("tables", "speed", "reading and encoding tables against pandas, polars and scikit-learn"),
    Benchmark("serving", "speed", "predictions of one row and of many against boosted trees"),
    Benchmark("updates", "speed", "an update against a fit of all rows"),
    Benchmark("explore", "speed", "answers of the interactive page in a browser"),
    Benchmark("published", "accuracy", "error and accuracy against the number of features, beside published figures"),
    Benchmark("learned_metric", "accuracy", "random features in a learned metric against plain ones"),
    Benchmark("selection_known", "accuracy", "relevant columns found in tables where they are known"),
    Benchmark("losses", "accuracy", "other losses and monotone columns against LightGBM"),
    Benchmark("monotone", "accuracy", "falls of predictions in a million moves up a monotone column"),
    Benchmark("intervals", "accuracy", "coverage and width of intervals against MAPIE and LightGBM"),
    Benchmark("splits", "accuracy", "promised scores against fresh groups and the next period"),
    Benchmark("glass_box", "accuracy", "explainable models against EBM and the full model"),
    Benchmark("two_sample", "accuracy", "level and power of the test for changed data"),
    Benchmark("wide_tables", "accuracy", "few rows of many columns against RidgeCV and LassoCV"),
    Benchmark("noise", "accuracy", "promised gains on tables of noise"),
    Benchmark("leaderboard", "accuracy", "27 tables against boosted trees, kernel machines and linear models"),
    Benchmark("memory_limit", "memory", "growth of a process relative to memory="),
    Benchmark("resource_limits", "memory", "time and memory relative to time_budget= and memory="),
    Benchmark("busy_machine", "speed", "two threads beside a busy core against one thread"),
    Benchmark("streaming", "scale", "the same bits from memory, blocks, files and merged halves"),
    Benchmark("scale", "scale", "memory, throughput and workers on data beyond memory"),
)
NAMES = tuple(benchmark.name for benchmark in BENCHMARKS)


def find(group: str | None, only: list[str]) -> list[Benchmark]:
    """The benchmarks of a group, or those named in `only`."""
    chosen = [each for each in BENCHMARKS if group in (None, "all", each.group)]
    return [each for each in chosen if each.name in only] if only else chosen
