"""Online convex optimisation."""

from pegasos.online.sets import Box, Everywhere, L1Ball, L2Ball, Simplex, nearest

__all__ = ["Box", "Everywhere", "L1Ball", "L2Ball", "Simplex", "nearest"]
