"""The command `robot-id`: one thin file per verb, loaded only when it is called."""
