"""`python -m mercer`: the command line, where no `mercer` is on the path."""

from mercer.cli import main

if __name__ == "__main__":
    main()
