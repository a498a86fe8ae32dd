"""The explorer's pages for every kernel of the gallery, and the pictures of the documentation."""
