import { createServer } from 'node:net';
import { SettingsError } from '#config';
import { freePort } from '#embedded';

/**
 * Tells before anything is started what port the gateway will listen on.
 * @param isExplicit whether PORT was set: then a port that is taken is an error, since others look for us there;
 *   the default gives way to a free port, and says so
 * @throws SettingsError when the port or the address cannot be listened on
 */
export async function choosePort(
  wanted: number,
  host: string,
  isExplicit: boolean,
  say: (line: string) => void,
): Promise<number> {
  const fault = await listenFault(wanted, host);
  if (!fault) return wanted;
  if (isExplicit || fault.code !== 'EADDRINUSE')
    throw new SettingsError(`Settings are wrong:\n  ${told(fault, wanted, host)}`);
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
    case 'EADDRINUSE':
      return `PORT: ${port} is taken by another program: stop that one, or set another PORT`;
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
