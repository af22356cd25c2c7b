"""What is resolved once per request: delay, friction slope, cut-off, decimation, rest band."""
