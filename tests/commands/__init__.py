"""The command line: subcommands, messages, output to terminals."""
