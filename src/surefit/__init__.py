"""surefit."""
from surefit._version import __version__
