"""What a deployment of some size needs: figures measured from the code, prices, and the model that joins them."""
