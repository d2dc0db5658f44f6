"""What a reply cost, from the price list that comes with the client; nothing is downloaded."""

from __future__ import annotations

from genai_prices import Usage, calc_price

from prjury.models.choose import ModelChoice


def price(choice: ModelChoice, input_tokens: int, output_tokens: int) -> float | None:
    """US dollars, or None where the server or the model has no known price."""
    usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
    try:
        if choice.base_url:
            cost = calc_price(usage, choice.name, provider_api_url=choice.base_url)
        else:
            cost = calc_price(usage, choice.name, provider_id=choice.provider)
    except (LookupError, ValueError):
        return None
    return float(cost.total_price)
