/** The folder of the checkout, from our compiled place (dist-test/libs/testing). Ends with a slash. */
export const checkout = new URL('../../../', import.meta.url);
