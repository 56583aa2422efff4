package regularfile

const nonblock = 0
