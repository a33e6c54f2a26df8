"""The final linear model on the features that were found."""
