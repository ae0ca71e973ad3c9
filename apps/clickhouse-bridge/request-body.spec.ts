import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import { writeRows } from './request-body.js';

/** Every write to `/dev/full` fails as on a full disk. Only Linux has it. */
const hasFullDevice = process.platform === 'linux';
const directory = mkdtempSync(join(tmpdir(), 'rows-'));

afterAll(() => rmSync(directory, { recursive: true }));

describe('rows that cannot be written to a file', () => {
  (hasFullDevice ? it : it.skip)('are reported as a full disk if the disk is full', async () => {
    await expect(writeRows('/dev/full', '1')).rejects.toMatchObject({
      code: 243,
      type: 'NOT_ENOUGH_SPACE',
    });
  });

  it('cause an error that does not name the file if the file cannot be opened', async () => {
    await expect(writeRows(directory, '1')).rejects.toMatchObject({
      code: 75,
      type: 'CANNOT_WRITE_TO_FILE_DESCRIPTOR',
      message: 'The rows cannot be written: EISDIR',
    });
  });

  (hasFullDevice ? it : it.skip)(
    'are read to their end, because a client that is sending does not read the response',
    async () => {
      const body = Object.assign(Readable.from(Array<Buffer>(200).fill(Buffer.alloc(16_384))), {
        headers: {},
      });
      const written = writeRows('/dev/full', '0', body as unknown as IncomingMessage);
      await expect(written).rejects.toMatchObject({ code: 243 });
      expect(body.readableEnded).toBe(true);
    },
  );

  it('are reported as incorrect data if the body cannot be decompressed', async () => {
    const body = Object.assign(Readable.from([Buffer.from('no gzip')]), {
      headers: { 'content-encoding': 'gzip' },
    });
    const written = writeRows(join(directory, 'rows'), '', body as unknown as IncomingMessage);
    await expect(written).rejects.toMatchObject({ code: 117, type: 'INCORRECT_DATA' });
  });
});
