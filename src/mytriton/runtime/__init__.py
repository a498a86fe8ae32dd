"""From a call of a kernel to its run: arguments, keys, compilations, targets, and tuning."""
