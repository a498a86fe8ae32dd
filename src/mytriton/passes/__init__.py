"""Plain functions from function to function, over regions; `pipeline.optimize` lists them."""
