"""What an unknown table holds: a guess of each column, with its reasons and its doubts."""
