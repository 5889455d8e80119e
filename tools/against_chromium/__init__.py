"""Applications of leobench beside real ones: Chromium loads pages, calls and plays films over the same link.

    python -m tools.against_chromium pages
    python -m tools.against_chromium calls
    python -m tools.against_chromium film --dashjs FOLDER

Each prints a table in Markdown: the model's figure in virtual time, Chromium's in real time on emulated
hosts, and their ratio. The programs run in the namespaces that `leobench emulate` makes, and end with them.

`pages`, `calls` and `film` are the subjects, `sessions` runs both engines, `browser` starts Chromium, `serve`
and its protocols answer requests, `shapes` makes the pages, and `har` and `record` record them.
"""
