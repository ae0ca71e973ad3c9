import { expect, it } from 'vitest';
import { greeting } from './demo.js';

it('prints the demo’s key and signing secret, and how to use the command line on it', () => {
  const text = greeting('http://127.0.0.1:8080', { apiKey: 'ek_1', signingSecret: 'whsec_1' });
  for (const part of ['ek_1', 'whsec_1', 'npm run -s cli -- doctor']) expect(text).toContain(part);
});
