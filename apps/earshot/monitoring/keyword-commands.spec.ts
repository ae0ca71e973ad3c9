import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import { addKeywordCommands } from './keyword-commands.js';

const FILE =
  'keywords: [{ name: Acme, refreshIntervalSeconds: 60, globalCriteria: { market: global }, sources: [] }]';

describe('keywords apply', () => {
  const folder = mkdtempSync(join(tmpdir(), 'earshot-keywords-'));
  const path = join(folder, 'keywords.yaml');
  const before = process.env;
  const keywords: { id: string; name: string }[] = [];
  // While this command creates the keyword, another command creates it too.
  const server = createServer((request, response) => {
    if (request.method === 'POST' && request.url === '/v1/queries')
      keywords.push({ id: 'k1', name: 'Acme' }, { id: 'k2', name: 'Acme' });
    const estimate = { valid: true, estimate: { monthlyCredits: 720 }, estimateToken: 'token' };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: 'k1', data: keywords, ...estimate }));
  });

  beforeAll(async () => {
    writeFileSync(path, FILE);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const env = { EARSHOT_URL: `http://127.0.0.1:${port}`, EARSHOT_API_KEY: 'ek_1' };
    process.env = { ...before, ...env };
    jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  });

  afterAll(() => {
    jest.restoreAllMocks();
    process.env = before;
    server.close();
    server.closeAllConnections();
    rmSync(folder, { recursive: true });
  });

  it('fails if another apply has created the same keyword at the same time', async () => {
    const program = new Command();
    addKeywordCommands(program);
    const applied = program.parseAsync(['keywords', 'apply', path], { from: 'user' });
    await expect(applied).rejects.toThrow('several keywords have the name "Acme"; add the id of one: k1, k2');
  });
});
