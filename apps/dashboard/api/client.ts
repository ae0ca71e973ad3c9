import { createClient, type Client } from '../../../clients/typescript/src/index.js';
import { csrfToken } from './session.js';

export { EarshotConnectionError, EarshotError, type Fault } from '../../../clients/typescript/src/index.js';

/** The API, as the member who is signed in. The browser adds the session cookie. */
export const api: Client = createClient({ baseUrl: '', csrfToken, retries: 2, longestRetryAfterSeconds: 20 });
