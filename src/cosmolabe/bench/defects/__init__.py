"""Defects seen in public world-model code, planted on purpose in our own starters.

Each model's file offers `DEFECTS`. A test shows that each is caught; `recipes/defects.py` measures
what each costs.
"""
