"""From a call of a kernel to its run: arguments, keys, artifacts, targets, and tuning."""
