"""What rules read calls with: prompts, frames, bodies, markup, what the source recorded."""
