"""Screening: finds secrets, orders and injected text before anything is remembered."""
