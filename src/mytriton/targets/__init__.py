"""What runs a function of the IR, one package each, and what they share: memory, disk, show."""
