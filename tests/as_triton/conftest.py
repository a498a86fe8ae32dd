"""The folder `api` is a test suite of its own."""

collect_ignore = ["api"]  # run by test_api.py, under the stand-in
