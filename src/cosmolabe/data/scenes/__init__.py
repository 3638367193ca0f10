"""Scenes of rigid bodies under MuJoCo: a second source of true and of hurt physics.

A builder (`falling`, `hanging`, `meeting`) gives a `stage`; `shooting` plays it and takes its
pictures; `damage` hurts it; `twins` makes groups of it. Nothing here needs MuJoCo to be imported.
"""
