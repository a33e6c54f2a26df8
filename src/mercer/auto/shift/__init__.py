"""Whether rows still follow the distribution of other rows: two-sample tests of the table and of each column."""
