import { stat } from 'node:fs/promises';

/**
 * Creates a function that returns the content of a file, and reads the file again only after it has changed. Calls at
 * the same time share one reading.
 * @param read reads and parses the file
 * @param absent the content if the file cannot be read; the next call tries again
 */
export function createCachedFile<T>(path: string, read: () => Promise<T>, absent: T): () => Promise<T> {
  let version: string | undefined;
  let content: Promise<T> | undefined;
  return async () => {
    try {
      // The version is read before the content. So a change of the file during the reading leads to another reading.
      const { mtimeNs, size, ino } = await stat(path, { bigint: true });
      const present = `${mtimeNs} ${size} ${ino}`;
      if (!content || version !== present) {
        version = present;
        content = read();
      }
      return await content;
    } catch {
      content = undefined;
      return absent;
    }
  };
}
