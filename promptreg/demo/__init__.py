"""The demo: the main job on this machine, with a real small model or on simulated deployments."""
