"""Adapters that this project ships; each folder imports only the door of ``adapter_sdk``."""
