"""The format contract that recorded answers keep without anyone having written it down."""
