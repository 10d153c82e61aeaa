// The page code follows.
