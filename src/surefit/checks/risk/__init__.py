"""Claims about new data: the losses recounted, the splits drawn again, the limits confirmed."""
