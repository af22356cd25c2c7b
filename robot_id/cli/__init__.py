"""The command `robot-id`: one thin file per command, loaded only when it is called."""
