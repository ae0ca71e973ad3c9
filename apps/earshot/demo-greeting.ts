import { BRANDS, DEMO_SOURCES, type DemoAccount } from './demo-account.js';

/**
 * Returns the text that `npm run demo` prints when it runs: how to read the demo's mentions, check its webhooks and use
 * the command line.
 * @param address for example `http://127.0.0.1:8080`
 * @param dataDir the demo's own data directory, absolute. With this directory, the command line finds the demo, not
 *   another Earshot on the machine
 */
export function demoGreeting(address: string, account: DemoAccount, dataDir: string): string {
  const { accountId, apiKey, signingSecret, email, password } = account;
  const cli = `DATA_DIR=${quoted(dataDir)} npm run -s cli --`;
  return `
Earshot is running. All posts are simulated: no real person wrote any of them.

  Address         ${address}
  Email           ${email}
  Password        ${password}
  Account         ${accountId}
  API key         ${apiKey}
  Signing secret  ${signingSecret}
  Keywords        ${BRANDS.map(({ name }) => name).join(', ')}, on ${DEMO_SOURCES}

  See the latest mentions:

    curl -s -H 'x-api-key: ${apiKey}' '${address}/v1/mentions?limit=5'

  Use the command line with the demo, in another terminal, in this directory:

    ${cli} credits show --account ${accountId}
    ${cli} doctor
    ${cli} --help

${BRANDS[0]!.name} has a rule that marks complaints and posts of customers who may leave, and sends them to a channel of
each kind (slack, discord, teams, telegram, email, webhook), and a spike alert: within two minutes many people write
about this brand.

The lines below show each webhook that the demo's receiver gets, and each message of a channel: ✓ if it is correct, ✗ and the
reason if not.
Press Ctrl-C to stop.
`;
}

/** Quotes the text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
