"""Best subset selection."""
