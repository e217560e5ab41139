// pure: how much fits into the environment of a server

/** Environment values are limited to so many bytes of UTF-8 each (public fact). */
export const LONGEST_VALUE_BYTES = 4096

/**
 * All variables of a deployment together, names included. The document says nothing of a limit; ours is
 * far below the 2 MiB that Linux gives a program by default for its arguments and environment.
 */
export const LARGEST_ENVIRONMENT_BYTES = 256 * 1024
