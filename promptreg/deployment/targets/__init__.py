"""The end of the window: what is known of each model and server, and what a deployment does with a prompt too long."""
