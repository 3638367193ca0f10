"""Scenes of rigid bodies under MuJoCo: a second source of true and of hurt physics."""
