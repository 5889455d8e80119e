"""A Starlink link, fitted to measurements: a generative model of its delay, capacity and loss.

`readers` turns recordings into `series`. `process` and `losses` estimate the parts of the model from them,
`fit` puts the parts together and into a file, and `checks` compares the model with the recordings.
`replay` infers the path behind a recorded transfer, and runs other senders over it.
"""
