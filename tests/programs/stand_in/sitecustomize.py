# One of the user's own, which runs whatever is put before it.
MARK = "the user's own"
