import { Controller, Get, Headers, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '#kernel';
import type { Caller } from '../../auth/api-keys.js';
import { From } from '../../auth/caller.js';
import { Cursors } from '../../http/cursor.js';
import { QueryReader, type RawQuery } from '../../http/query.js';
import { readMentionFilter } from '../../reads/mention-filter.js';
import { mentionView } from '../mentions/mention-view.js';
import { LiveMentions } from './live-mentions.js';
import { OpenStreams } from './open-streams.js';

/** The place in EVENTS behind which a stream continues. */
interface Place {
  sequence: number;
}

/** New mentions as server-sent events. Free. */
@Controller('v1/stream')
export class StreamController {
  constructor(
    private readonly live: LiveMentions,
    private readonly streams: OpenStreams,
    private readonly cursors: Cursors,
  ) {}

  /**
   * Sends each new mention as soon as it can be read, with the filters of `GET /v1/mentions`. `Last-Event-ID` continues
   * behind an earlier event; without it the stream begins now.
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
    const scope = { list: 'stream', accountId };
    const idOf = (sequence: number) => this.cursors.write(scope, { sequence } satisfies Place);
    const head = await this.live.head();
    const wanted = lastEventId ? this.placeOf(scope, lastEventId).sequence : head;
    // EVENTS ends before the wanted place if it was restored from an older copy.
    const from = Math.min(wanted, head);
    const stream = this.streams.begin(accountId, request, reply);
    try {
      // The browser then continues here, even if the connection breaks before the first mention.
      await stream.move(idOf(from));
      for await (const { sequence, row } of this.live.after(accountId, filter, from, stream.ended))
        if (row) await stream.send('mention', idOf(sequence), mentionView(row));
        else stream.moveLater(() => idOf(sequence));
    } catch (error) {
      // The answer has begun, so its status cannot say it. The client connects again, and then gets a status.
      if (!stream.ended.aborted) this.streams.failed(error);
    } finally {
      this.streams.end(accountId, stream);
    }
  }

  /** @throws Refusal `invalid` */
  private placeOf(scope: unknown, lastEventId: string): Place {
    try {
      return this.cursors.read<Place>(scope, lastEventId);
    } catch {
      throw Refusal.validation([
        {
          path: 'Last-Event-ID',
          message: 'is not the id of an event of this account’s stream; leave it out',
        },
      ]);
    }
  }
}
