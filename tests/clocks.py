"""Clocks for tests of time budgets: they tell what the test wants."""


class Hours:
    """A clock that moves by a step whenever it is looked at."""

    def __init__(self, step):
        self.time, self.step = 0.0, step

    def __call__(self):
        self.time += self.step
        return self.time
