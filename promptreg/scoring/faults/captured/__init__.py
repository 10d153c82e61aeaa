"""Files of captured responses, as `promptreg diagnose` reads them."""
