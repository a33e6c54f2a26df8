"""Checkpoints: the progress of a long fit in a folder, from which an interrupted fit continues with the same bits."""

from mercer.io.checkpoint.folder import Checkpoint, CheckpointError

__all__ = ["Checkpoint", "CheckpointError"]
