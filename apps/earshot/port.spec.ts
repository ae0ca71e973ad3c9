import { createServer, type AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { SettingsError } from '#config';
import { checkPort, portFor } from './port.js';

const said: string[] = [];
const say = (line: string) => void said.push(line);

it('a port that is taken is replaced, and said', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  expect(await portFor(port, '127.0.0.1', say)).not.toBe(port);
  await checkPort(port, '127.0.0.1');
  expect(said).toEqual([expect.stringContaining(`Port ${port} is taken; using `)]);
  await new Promise((resolve) => other.close(resolve));
  expect(await portFor(port, '127.0.0.1', say)).toBe(port);
});

it('an address that is not ours is a wrong HOST, not a taken port', async () => {
  const asked = checkPort(0, '203.0.113.7');
  await expect(asked).rejects.toThrow(SettingsError);
  await expect(asked).rejects.toThrow('HOST: 203.0.113.7 is no address of this machine');
  await expect(checkPort(0, 'no.such.name.invalid')).rejects.toThrow(/HOST: no\.such\.name\.invalid/);
});
