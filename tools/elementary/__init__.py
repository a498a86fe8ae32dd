"""Where the constants of `mytriton.ir.elementary` come from, and how its errors are measured."""
