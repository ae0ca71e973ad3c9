import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import type { Transform } from 'node:stream';

/** Receives the end of one response body. One of the three methods is called once, unless the body is stopped first. */
export interface BodyEvents {
  /** The body is complete. */
  whole(bytes: Buffer): void;
  /** More bytes arrived than allowed; `bytes` contains the allowed part, decoded. */
  overflow(bytes: Buffer): void;
  /** The content encoding is broken. */
  broken(): void;
}

/** Collects the bytes of one response body and counts the decoded bytes. */
export interface AnswerBody {
  write(chunk: Buffer): void;
  end(): void;
  /** Stops collecting. No method of `BodyEvents` is called afterwards. */
  stop(): void;
}

/**
 * Creates the collector for a content encoding; undefined if the encoding is not supported.
 * @param maxBytes maximum number of decoded bytes; the limit of the encoded bytes is `ENCODING_OVERHEAD` higher
 */
export function createAnswerBody(
  encoding: string | undefined,
  maxBytes: number,
  events: BodyEvents,
): AnswerBody | undefined {
  const bounded = new BoundedBytes(maxBytes, events);
  switch (encoding?.trim().toLowerCase()) {
    case undefined:
    case '':
    case 'identity':
      return bounded;
    case 'gzip':
    case 'x-gzip':
      return new DecodedBody(() => createGunzip(ZLIB_OPTIONS), maxBytes, bounded, events);
    case 'br':
      return new DecodedBody(() => createBrotliDecompress(BROTLI_OPTIONS), maxBytes, bounded, events);
    case 'deflate':
      // In the RFC, `deflate` means zlib, but many servers send raw deflate. The low half of the first byte of a zlib
      // stream is 8.
      return new DecodedBody(
        (first) => ((first & 0x0f) === 8 ? createInflate(ZLIB_OPTIONS) : createInflateRaw(ZLIB_OPTIONS)),
        maxBytes,
        bounded,
        events,
      );
    default:
      return undefined;
  }
}

// If a compressed body is truncated, its decoded part is returned, as in browsers: a feed is read as far as possible.
const ZLIB_OPTIONS = { finishFlush: constants.Z_SYNC_FLUSH };
const BROTLI_OPTIONS = { finishFlush: constants.BROTLI_OPERATION_FLUSH };

/**
 * Encoded bytes can arrive faster than they are decoded, and can decode to nothing. So their number is limited too. It
 * can exceed the maximum size by this number of bytes, because encoding makes some contents a little longer.
 */
const ENCODING_OVERHEAD = 65_536;

class BoundedBytes implements AnswerBody {
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private done = false;

  constructor(
    private readonly maxBytes: number,
    private readonly events: BodyEvents,
  ) {}

  write(chunk: Buffer): void {
    if (this.done) return;
    const room = this.maxBytes - this.size;
    this.chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    this.size += chunk.length;
    if (chunk.length > room) this.cut();
  }

  /** Ends the body before its complete content has arrived. */
  cut(): void {
    if (this.done) return;
    this.done = true;
    this.events.overflow(this.bytes());
  }

  end(): void {
    if (this.done) return;
    this.done = true;
    this.events.whole(this.bytes());
  }

  stop(): void {
    this.done = true;
  }

  private bytes(): Buffer {
    const [only] = this.chunks;
    return this.chunks.length === 1 && only ? only : Buffer.concat(this.chunks);
  }
}

/**
 * Decodes in small steps. `overflow` is called at the limit, and its receiver must call `stop`, so that no more of a
 * compression bomb is decoded.
 */
class DecodedBody implements AnswerBody {
  private decoder: Transform | undefined;
  private stopped = false;
  private encodedBytes = 0;
  private isCut = false;

  constructor(
    private readonly open: (firstByte: number) => Transform,
    private readonly maxBytes: number,
    private readonly decoded: BoundedBytes,
    private readonly events: BodyEvents,
  ) {}

  write(chunk: Buffer): void {
    if (this.stopped || this.isCut || chunk.length === 0) return;
    this.decoder ??= this.start(chunk[0] ?? 0);
    this.decoder.write(chunk);
    this.encodedBytes += chunk.length;
    this.isCut = this.encodedBytes > this.maxBytes + ENCODING_OVERHEAD;
    if (this.isCut) this.decoder.end();
  }

  end(): void {
    if (this.stopped || this.isCut) return;
    if (this.decoder) this.decoder.end();
    else this.decoded.end();
  }

  stop(): void {
    this.stopped = true;
    this.decoded.stop();
    this.decoder?.destroy();
  }

  private start(firstByte: number): Transform {
    const decoder = this.open(firstByte);
    decoder.on('data', (chunk: Buffer) => this.decoded.write(chunk));
    decoder.on('end', () => (this.isCut ? this.decoded.cut() : this.decoded.end()));
    decoder.on('error', () => {
      if (this.stopped) return;
      this.stop();
      this.events.broken();
    });
    return decoder;
  }
}
