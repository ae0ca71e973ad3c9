/** The folder of the checkout, relative to the compiled file (dist-test/libs/testing). Ends with a slash. */
export const checkout = new URL('../../../', import.meta.url);
