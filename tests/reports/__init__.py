"""Reports and watched folders, in a browser."""
