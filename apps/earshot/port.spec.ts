import { createServer, type AddressInfo } from 'node:net';
import { SettingsError } from '#config';
import { choosePort } from './port.js';

const printed: string[] = [];
const say = (line: string) => void printed.push(line);

async function takenPort(): Promise<{ port: number; free(): Promise<unknown> }> {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  return { port, free: () => new Promise((resolve) => other.close(resolve)) };
}

it('a free port replaces the default port if the default port is in use, and a line reports the new port', async () => {
  const { port, free } = await takenPort();
  expect(await choosePort(port, '127.0.0.1', false, say)).not.toBe(port);
  expect(printed).toEqual([expect.stringContaining(`Port ${port} is in use; using `)]);
  await free();
  expect(await choosePort(port, '127.0.0.1', false, say)).toBe(port);
});

it('a configured PORT that is in use causes an error, which names PORT', async () => {
  const { port, free } = await takenPort();
  const chosen = choosePort(port, '127.0.0.1', true, say);
  await expect(chosen).rejects.toThrow(SettingsError);
  await expect(chosen).rejects.toThrow(`PORT: ${port} is in use by another program`);
  await free();
  expect(await choosePort(port, '127.0.0.1', true, say)).toBe(port);
});

it('an address of another machine is reported as a wrong HOST, not as a port in use', async () => {
  const chosen = choosePort(0, '203.0.113.7', false, say);
  await expect(chosen).rejects.toThrow(SettingsError);
  await expect(chosen).rejects.toThrow('HOST: 203.0.113.7 is not an address of this machine');
  await expect(choosePort(0, 'no.such.name.invalid', false, say)).rejects.toThrow(
    /HOST: no\.such\.name\.invalid/,
  );
});
