"""Sources of rows with two verbs, `map` and `fold`; nothing above depends on the kind of source."""

from mercer.source.accumulator import Accumulator
from mercer.source.base import Source
from mercer.source.delayed import DelayedSource
from mercer.source.engine import Engine, EngineError, ExecutorEngine, as_engine
from mercer.source.files import ParquetSource
from mercer.source.holdout import in_holdout, split_holdout
from mercer.source.memory import MemorySource, StreamSource
from mercer.source.progress import listening
from mercer.source.table import Columns, TableSource

__all__ = [
    "Accumulator",
    "Columns",
    "DelayedSource",
    "Engine",
    "EngineError",
    "ExecutorEngine",
    "MemorySource",
    "ParquetSource",
    "Source",
    "StreamSource",
    "TableSource",
    "as_engine",
    "in_holdout",
    "listening",
    "split_holdout",
]
