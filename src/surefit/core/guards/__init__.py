"""Guards against unreadable data, extreme numbers, oversized archives, insufficient memory, and Ctrl-C."""
