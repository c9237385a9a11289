"""Discriminants: classes as Gaussian clouds, told apart by a plane or a quadric."""
