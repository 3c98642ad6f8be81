"""What the Azure Functions host loads."""

from azure_functions.app import build_app

app = build_app()
