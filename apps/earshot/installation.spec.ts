import { readInstallationSettings } from './installation.js';

describe('the settings of an installation', () => {
  it('are valid without any variable', () => {
    expect(readInstallationSettings({}).NATS_URL).toBe('');
  });

  it.each([
    ['LLM_MODEL', { LLM_URL: 'http://127.0.0.1:11434/v1' }],
    ['PUBLIC_URL', { PUBLIC_URL: 'example' }],
    ['LOG_LEVEL', { LOG_LEVEL: 'loud' }],
  ])('are refused with the name of the setting if %s is missing or wrong', (name, env) => {
    expect(() => readInstallationSettings(env)).toThrow(name);
  });
});
