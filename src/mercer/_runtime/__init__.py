"""Runtime helpers: thread pool, argument checks, memory limits, cache of derived values."""
