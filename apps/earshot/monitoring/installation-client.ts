import { createClient, type Client } from '#client';

/**
 * Returns the client of the installation that `EARSHOT_URL` names, with the key in `EARSHOT_API_KEY`.
 * @throws Error that names the setting that is invalid or missing
 */
export function clientOf(env: NodeJS.ProcessEnv): Client {
  const { EARSHOT_URL: baseUrl = 'http://127.0.0.1:8080', EARSHOT_API_KEY: givenKey = '' } = env;
  // A file with the key often ends with a new line.
  const apiKey = givenKey.trim();
  if (!URL.canParse(baseUrl) || !/^https?:/.test(baseUrl))
    throw new Error('EARSHOT_URL must be an address, such as https://earshot.example.com');
  if (apiKey === '') throw new Error('EARSHOT_API_KEY is missing: set it to an API key of the account');
  // Without this check, `fetch` would throw an error about HTTP headers that contains the key.
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    throw new Error('EARSHOT_API_KEY is not an API key: it has characters that no key has');
  return createClient({ baseUrl, apiKey });
}
