/**
 * Makes a handler for the errors of opening a store. It throws an error with one line that names the store and its
 * setting.
 */
export function unreachable(setting: string, store: string) {
  return (error: unknown): never => {
    const reason: unknown = error instanceof AggregateError ? error.errors[0] : error;
    // One line only: some drivers put a whole response into their message.
    const [line = ''] = String(reason).trim().split('\n');
    throw new Error(`${store} could not be reached or prepared (${setting}): ${line}`, { cause: error });
  };
}
