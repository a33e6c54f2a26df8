"""Runtime helpers below everything else: the thread pool, argument checks, memory limits, derived values."""
