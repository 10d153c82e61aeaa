"""What other libraries, and users, shorten conversations with, as strategies and as what `context test` tests."""
