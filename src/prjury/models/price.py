"""What a reply cost, from the price list that comes with the client; nothing is downloaded."""

from __future__ import annotations

from genai_prices import Usage, calc_price

from prjury.models.choose import ModelChoice


def price(
    choice: ModelChoice, input_tokens: int, output_tokens: int, *, read: int = 0, written: int = 0
) -> float | None:
    """US dollars, or None where the server or the model has no known price.

    Args:
        choice: the model.
        input_tokens: all of them, also those that came from the provider's cache.
        output_tokens: all of them, also those of the thinking before the answer.
        read: how many of the input tokens were read from the cache, which is cheaper.
        written: how many of them were written to it, which may cost more.
    """
    usage = Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cache_read_tokens=read,
        cache_write_tokens=written,
    )
    try:
        if choice.base_url:
            cost = calc_price(usage, choice.name, provider_api_url=choice.base_url)
        else:
            cost = calc_price(usage, choice.name, provider_id=choice.provider)
    except (LookupError, ValueError):
        return None
    return float(cost.total_price)
