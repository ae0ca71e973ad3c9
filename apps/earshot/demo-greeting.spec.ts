import { demoGreeting } from './demo-greeting.js';

const account = {
  accountId: '01a200ff-78d0-729b-9de1-14b8ec4c1698',
  apiKey: 'ek_1',
  signingSecret: 'whsec_a/b+c=',
  port: 8090,
  keywordIds: [],
  email: 'demo@example.org',
  password: 'secret words',
};

it('the demo prints its address, password, key, signing secret and commands that use them', () => {
  const text = demoGreeting('http://127.0.0.1:8080', account, '/srv/ear shot/demo');
  expect(text).toContain('Email           demo@example.org\n  Password        secret words\n');
  expect(text).toContain('Signing secret  whsec_a/b+c=\n');
  expect(text).toContain("curl -s -H 'x-api-key: ek_1' 'http://127.0.0.1:8080/v1/mentions?limit=5'");
  expect(text).toContain(
    `DATA_DIR='/srv/ear shot/demo' npm run -s cli -- credits show --account ${account.accountId}\n`,
  );
  expect(text).toContain("DATA_DIR='/srv/ear shot/demo' npm run -s cli -- doctor\n");
});

it('a data directory with a quote in its name stays one word in the shell', () => {
  expect(demoGreeting('http://127.0.0.1:8080', account, "/srv/ann's")).toContain(
    "DATA_DIR='/srv/ann'\\''s' npm",
  );
});
