"""How many tokens a prompt may have."""

from __future__ import annotations

from dataclasses import dataclass

from promptreg.errors import UsageError


@dataclass(frozen=True, slots=True)
class Budget:
    """A window, less what the answer needs, less a margin for what no counter sees. All in tokens."""

    window: int
    """Tokens that prompt and answer may have together, above 0."""
    reserve: int = 0
    """Kept free for the answer: the request's `max_tokens`."""
    safety: int | None = None
    """Margin for differences between our count and the server's. None: 1 % of the window, at least 8."""

    def __post_init__(self) -> None:
        if self.window < 1 or self.reserve < 0 or (self.safety is not None and self.safety < 0):
            raise UsageError(
                f"A budget needs a window of at least 1 token and no negative reserve or safety; got window "
                f"{self.window}, reserve {self.reserve}, safety {self.safety}."
            )

    @classmethod
    def exactly(cls, tokens: int) -> Budget:
        """A budget of so many tokens for the prompt, nothing kept free."""
        return cls(tokens, 0, 0)

    @property
    def margin(self) -> int:
        """The safety margin in tokens."""
        return max(8, -(-self.window // 100)) if self.safety is None else self.safety

    @property
    def kept_free(self) -> int:
        """Tokens of the window that the prompt may not use."""
        return self.reserve + self.margin

    @property
    def tokens(self) -> int:
        """What the prompt may have; 0 or less when reserve and margin fill the window."""
        return self.window - self.kept_free
