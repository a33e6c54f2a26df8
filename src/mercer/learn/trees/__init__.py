"""Trees as features."""
