"""Small trainings by what they learn: each a function of a seed and a setting (kinds.py)."""
