"""The rules: state, randomness, kernels, and their checked face."""
