import os


def get_credential(**_kwargs: object) -> str:
    """The account key, where the tool chain would log in to Azure."""
    return os.environ["ACCOUNT_KEY"]
