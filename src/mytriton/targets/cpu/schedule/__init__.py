"""From a function to its plan: which loop nests there are, in which order, over which buffers.

In the order of use: `accesses` and `dependence` (what must keep its order), `expressions` (what a
root evaluates), `planner` (what is materialised, and why), `fusion` (which nest a root joins),
`finish`; `plan` is the result, `text` prints it and `check` verifies it.
"""
