"""What is allowed: switches, tiers and quotas, trust, forgetting, and the record of who did what."""
