"""Where files are: folders, patterns and object stores; and files that must be unpacked or cut before reading."""
