"""Guards against unreadable data, extreme numbers, files that unpack to too much, too little memory, and Ctrl-C."""
