"""What a seat may know, and its features."""

from goboom_env.observation.features import VERSION, encode, layout, size
from goboom_env.observation.view import VIEW

__all__ = ["VERSION", "VIEW", "encode", "layout", "size"]
