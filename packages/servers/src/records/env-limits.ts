// pure: limits of a server's environment

/** The largest value of an environment variable, in bytes of UTF-8 (public fact). */
export const LONGEST_VALUE_BYTES = 4096

/**
 * The largest environment of a deployment, in bytes of all names and values together. The service documents no limit;
 * ours is far below the 2 MiB that Linux gives a program by default for its arguments and environment.
 */
export const LARGEST_ENVIRONMENT_BYTES = 256 * 1024
