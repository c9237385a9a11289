"""The command line: parse, call the library, print (needs typer, rich and polars)."""
