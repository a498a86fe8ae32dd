"""The checks on the source itself: standard library only, run by `make gates` and by the tests."""
