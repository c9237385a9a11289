"""The scripts are programs: they are run by ``test_scripts.py``, and not imported."""

collect_ignore_glob = ["scripts/*"]
