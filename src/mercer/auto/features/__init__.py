"""Blocks of features, one file per kind.

A block is a kind, a fitted public transformer of encoded rows and, in the linear model, a penalty. Its methods answer
what the search asks: names, a refit on other rows, the version without a fold, how scores change as a column takes
other values, ONNX nodes.
"""
