"""Rules that are constant on the cells of a partition, and how fast they approach the best rule."""
