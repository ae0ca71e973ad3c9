import { Controller, Get, Headers, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { readMentionFilter } from '../../reads/mention-filter.js';
import { mentionView } from '../mentions/mention-view.js';
import { LiveMentions } from './live-mentions.js';
import { OpenStreams } from './open-streams.js';
import { StreamPositions } from './stream-positions.js';

/** Sends new mentions as server-sent events. A stream costs no credits. */
@Controller('v1/stream')
export class StreamController {
  constructor(
    private readonly live: LiveMentions,
    private readonly streams: OpenStreams,
    private readonly positions: StreamPositions,
  ) {}

  /**
   * Sends each new mention that passes the filters of `GET /v1/mentions`, but only after that route can return it. With
   * `Last-Event-ID`, the stream continues after this event, or after the position that came with a list of mentions.
   * Without this header, the stream begins with the first mention that `GET /v1/mentions` possibly does not return yet.
   */
  @Get()
  async stream(
    @From() { accountId }: Caller,
    @Query() raw: RawQuery,
    @Headers('last-event-id') lastEventId: string | undefined,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const query = new QueryReader(raw);
    const filter = readMentionFilter(query);
    query.finish();
    // The connection of a HEAD would stay occupied, although the response is complete without a body.
    if (request.method === 'HEAD') return void reply.header('content-type', 'text/event-stream').send();
    const wanted = lastEventId
      ? this.positions.sequenceOf(accountId, lastEventId)
      : await this.live.written();
    // If EVENTS was restored from an older backup, the requested position can be after its last message.
    const from = Math.min(wanted, await this.live.head());
    const idOf = (sequence: number) => this.positions.idOf(accountId, sequence);
    const stream = this.streams.begin(accountId, request, reply);
    try {
      // With this id, the browser continues from this position even if the connection breaks before the first mention.
      await stream.sendId(idOf(from));
      for await (const { sequence, row } of this.live.after(accountId, filter, from, stream.ended))
        if (row) await stream.send('mention', idOf(sequence), mentionView(row));
        else stream.sendIdLater(() => idOf(sequence));
    } catch (error) {
      // The response has begun, so its status cannot report the error. The client connects again, and then gets a
      // status.
      if (!stream.ended.aborted) this.streams.failed(error);
    } finally {
      this.streams.end(accountId, stream);
    }
  }
}
