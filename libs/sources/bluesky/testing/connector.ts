import { createBlueskyConnector } from '../index.js';

// Only for specs: the connector with an account.

/** The account of the connector. */
export const settings = { clientId: 'us.lamps.example', clientSecret: 'app-pass' };
/** A connector with these settings. */
export const connector = createBlueskyConnector(settings);
