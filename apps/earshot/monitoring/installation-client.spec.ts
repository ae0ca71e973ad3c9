import { clientOf } from './installation-client.js';

it.each(['ek_…', 'ek_1\n'])('the commands of the API name the setting if %j is set as the API key', (key) => {
  expect(() => clientOf({ EARSHOT_API_KEY: key })).toThrow(
    'EARSHOT_API_KEY is not an API key: it has characters that no key has',
  );
});
