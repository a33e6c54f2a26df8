"""Points of the plane, a representation and a learner: one file per question about the fit."""
