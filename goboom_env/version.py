"""The version of the package, on its own so that a build can read it without importing more."""

__version__ = "0.1.0"
