"""Where the constants of `mytriton.elementary` come from, and how its errors are measured."""
