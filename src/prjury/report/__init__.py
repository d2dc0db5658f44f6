"""From a verdict to what people and programs read. Pure: no file, no network, no clock."""
