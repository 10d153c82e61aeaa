"""Ways to call a deployment: over the wire, through the official client, or a function of the user's own."""
