"""Physics judged: its evaluation, and the sets it is trained and evaluated on."""
