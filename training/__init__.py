"""Training and evaluation scripts: `python -m training.train`, `python -m training.evaluate`."""
