"""Features learned from the data: directions, clusters, dictionaries, bins, trees, the metric a target asks for."""

__all__: list[str] = []
