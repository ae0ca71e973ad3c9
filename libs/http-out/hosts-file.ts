import { createReadStream } from 'node:fs';

/** The addresses of each name, in the order of the file. Names are in lower case. */
export type Hosts = ReadonlyMap<string, readonly string[]>;

/**
 * Reads a file with the format of `/etc/hosts`. Block lists in this format have some 100,000 lines. So the file is read
 * in parts of 64 KiB, and other work of the process runs between the parts.
 * @throws Error if the file cannot be read
 */
export async function readHosts(path: string): Promise<Hosts> {
  const hosts = new Map<string, readonly string[]>();
  // Most names have one address, and a block list has the same address for all names. They share this list.
  const alone = new Map<string, readonly string[]>();
  const add = (line: string): void => {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/);
    for (const name of new Set(names)) {
      const earlier = hosts.get(name);
      if (!earlier && !alone.has(address)) alone.set(address, [address]);
      hosts.set(name, earlier ? [...earlier, address] : (alone.get(address) ?? []));
    }
  };
  let rest = '';
  for await (const part of createReadStream(path, 'utf8') as AsyncIterable<string>) {
    const lines = (rest + part).split('\n');
    rest = lines.pop() ?? '';
    lines.forEach(add);
  }
  add(rest);
  return hosts;
}
