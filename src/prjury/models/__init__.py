"""Chat models behind one Protocol. Clients are optional extras and imported when first asked."""
