import { createServer } from 'node:net';
import { SettingsError } from '#config';
import { freePort } from '#embedded';

/**
 * Told before anything is started.
 * @throws SettingsError when the port or the address cannot be listened on at all
 */
export async function checkPort(wanted: number, host: string): Promise<void> {
  const fault = await listenFault(wanted, host);
  if (fault && fault.code !== 'EADDRINUSE')
    throw new SettingsError(`Settings are wrong:\n  ${told(fault, wanted, host)}`);
}

/** A port that is taken does not stop a start: another one is used, and said. */
export async function portFor(wanted: number, host: string, say: (line: string) => void): Promise<number> {
  if (!(await listenFault(wanted, host))) return wanted;
  const port = await freePort();
  say(`Port ${wanted} is taken; using ${port} instead. Set PORT to choose another.`);
  return port;
}

function listenFault(port: number, host: string): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((answer) => {
    const probe = createServer();
    probe.once('error', answer);
    probe.listen(port, host, () => probe.close(() => answer(undefined)));
  });
}

function told({ code, message }: NodeJS.ErrnoException, port: number, host: string): string {
  switch (code) {
    case 'EACCES':
      return `PORT: ${port} needs rights that this process does not have; ports from 1024 do not`;
    case 'EADDRNOTAVAIL':
      return `HOST: ${host} is no address of this machine`;
    case 'ENOTFOUND':
      return `HOST: ${host} is no address, and no name that can be looked up`;
    default:
      return `HOST: ${host} cannot be listened on (${message})`;
  }
}
