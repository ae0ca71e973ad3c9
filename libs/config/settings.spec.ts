import { readSettings, type SettingName } from './index.js';

const read = (name: SettingName, text: string) => readSettings([name], { [name]: text })[name];

describe('a setting', () => {
  it.each<[SettingName, string, string]>([
    ['POLL_TICK_MS', '99999999999', 'from 1 to 86400000'],
    ['SHUTDOWN_GRACE_MS', '2147483648', 'from 1 to 86400000'],
    ['LANE_LEASE_MS', '0', 'from 1 to 86400000'],
    ['MAX_CONNECTIONS', '1e300', 'from 1 to 9007199254740991'],
    ['STREAM_REPLICAS', '6', 'from 1 to 5'],
    ['MCP_DAILY_CREDITS', ' ', 'from 0 to'],
    ['OTEL_TRACES_SAMPLER_ARG', ' ', 'from 0 to 1'],
    ['LLM_TEMPERATURE', ' ', 'from 0 to 2'],
    ['PUBLIC_URL', 'https://earshot.example/?a=1', 'without user, ? and #'],
    ['PUBLIC_URL', 'https://earshot.example/#a', 'without user, ? and #'],
    ['PUBLIC_URL', 'https://ada:secret@earshot.example', 'without user, ? and #'],
    ['SMTP_URL', 'smtp://ada:100%@mail.example', 'must contain %25 instead of each %'],
    ['LLM_URL', 'https://llm.example/v1?api-version=1', 'without user, ? and #'],
    ['EMBEDDINGS_URL', 'https://llm.example/v1#a', 'without user, ? and #'],
  ])('named %s is refused with the value %j, and the message names both', (name, text, reason) => {
    expect(() => read(name, text)).toThrow(name);
    expect(() => read(name, text)).toThrow(reason);
  });

  it('has its default if it is empty', () => {
    expect(read('MCP_DAILY_CREDITS', '')).toBe(1000);
  });

  it('ignores the carriage return that a file of Windows adds to an address', () => {
    expect(read('LLM_URL', 'https://llm.example/v1\r')).toBe('https://llm.example/v1');
  });

  it.each(['https://earshot.example', 'http://[::1]:8080/', 'https://example.org/earshot'])(
    'accepts the address %s as PUBLIC_URL',
    (text) => {
      expect(read('PUBLIC_URL', text)).toBe(text);
    },
  );
});
