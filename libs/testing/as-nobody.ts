/** The user id that Linux distributions and Docker use for nobody. */
const NOBODY = 65534;

/**
 * Calls the function as a user who owns no files, because root is allowed to read all files. The whole process has this
 * user meanwhile, so the function must not be asynchronous. Tests that another user than root runs keep their user: the
 * modes of a file apply to its owner too.
 */
export function asNobody<T>(call: () => T): T {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(NOBODY);
  try {
    return call();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}
