"""Readers and writers of recordings, one file a format; bags have a floor of their own."""
