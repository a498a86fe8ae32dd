"""What the documentation is made from: the reference, the pictures, the site."""
