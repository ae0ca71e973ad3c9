import { createServer } from 'node:net';
import { SettingsError } from '#config';
import { freePort } from '#embedded';

/**
 * Chooses the port of the gateway before anything is started.
 * @param isExplicit whether PORT was set. If so, a port that is in use is an error, because clients expect Earshot on
 *   this port. If the default port is in use, a free port replaces the default port, and a line reports the new port
 * @throws SettingsError if the gateway cannot listen on the port or the address
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
    throw new SettingsError(`Settings are wrong:\n  ${faultText(fault, wanted, host)}`);
  const port = await freePort();
  say(`Port ${wanted} is in use; using ${port} instead. Set PORT to choose another.`);
  return port;
}

function listenFault(port: number, host: string): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((answer) => {
    const probe = createServer();
    probe.once('error', answer);
    probe.listen(port, host, () => probe.close(() => answer(undefined)));
  });
}

function faultText({ code, message }: NodeJS.ErrnoException, port: number, host: string): string {
  switch (code) {
    case 'EADDRINUSE':
      return `PORT: ${port} is in use by another program: stop that program, or set another PORT`;
    case 'EACCES':
      return `PORT: ${port} needs rights that this process does not have; ports from 1024 do not need them`;
    case 'EADDRNOTAVAIL':
      return `HOST: ${host} is not an address of this machine`;
    case 'ENOTFOUND':
      return `HOST: ${host} is neither an address nor a name that can be resolved`;
    default:
      return `HOST: cannot listen on ${host} (${message})`;
  }
}
