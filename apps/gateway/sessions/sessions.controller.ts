import { Controller, Delete, Get, HttpCode, Param } from '@nestjs/common';
import { isoOf, Refusal } from '#kernel';
import type { Caller } from '../auth/api-keys.js';
import { From } from '../auth/caller.js';
import { pathId } from '../http/path-id.js';
import { Sessions, type SessionRow } from './sessions.js';

/** The browsers in which a member has signed in. */
@Controller('v1/auth/sessions')
export class SessionsController {
  constructor(private readonly sessions: Sessions) {}

  @Get()
  async list(@From() { by }: Caller) {
    const current = by.kind === 'member' ? by.sessionId : undefined;
    const rows = await this.sessions.list(by.id);
    return { data: rows.map((row) => ({ ...sessionView(row), current: row.session_id === current })) };
  }

  @Delete(':id')
  @HttpCode(204)
  async end(@From() { by }: Caller, @Param('id') id: string): Promise<void> {
    if (!(await this.sessions.end(by.id, pathId(id, 'session')))) throw Refusal.notFound('session');
  }
}

function sessionView(row: SessionRow) {
  return {
    id: row.session_id,
    createdAt: isoOf(row.created_at),
    lastSeenAt: isoOf(row.last_seen_at),
    expiresAt: isoOf(row.expires_at),
    userAgent: row.user_agent,
    networkAddress: row.network_address,
  };
}
