"""Interfaces of other libraries; each module imports one, and nothing else imports the module."""
