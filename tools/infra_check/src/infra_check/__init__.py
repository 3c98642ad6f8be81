"""Checks, without Azure, that `azd up` would deploy a working system. See infra_check.check."""
