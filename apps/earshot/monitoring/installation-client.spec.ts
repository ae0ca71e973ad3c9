import { clientOf } from './installation-client.js';

it.each(['ek_…', 'ek_1\nek_2'])(
  'the commands of the API refuse %j as the API key, and name the setting',
  (key) => {
    expect(() => clientOf({ EARSHOT_API_KEY: key })).toThrow(
      'EARSHOT_API_KEY is not an API key: it has characters that no key has',
    );
  },
);

it.each(['ek_1\n', 'ek_1\r\n', ' ek_1'])('the commands of the API accept %j as the API key', (key) => {
  expect(() => clientOf({ EARSHOT_API_KEY: key })).not.toThrow();
});
