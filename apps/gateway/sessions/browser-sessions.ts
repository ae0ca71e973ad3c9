import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '#kernel';
import { AuditLog } from '../auth/audit-log.js';
import { MemberReads } from './members.js';
import { SessionCookie } from './session-cookie.js';
import { csrfTokenOf, MAX_SESSION_DAYS, Sessions } from './sessions.js';

const MAX_SESSION_SECONDS = MAX_SESSION_DAYS * 86_400;

/** Begins, shows and ends the session of a browser. */
@Injectable()
export class BrowserSessions {
  constructor(
    private readonly sessions: Sessions,
    private readonly cookie: SessionCookie,
    private readonly members: MemberReads,
    private readonly audit: AuditLog,
  ) {}

  /**
   * Begins a session. Always creates a new session: a session that a stranger has put into the browser must not become
   * the session of the member.
   * @returns the session as `GET /v1/auth/session` shows it
   */
  async begin(
    { memberId, passwordVersion }: { memberId: string; passwordVersion: number },
    request: FastifyRequest,
    reply: FastifyReply,
  ) {
    await this.sessions.endOf(this.cookie.read(request));
    const token = await this.sessions.begin({
      memberId,
      passwordVersion,
      userAgent: request.headers['user-agent'] ?? '',
      networkAddress: request.ip,
    });
    const view = await this.view(memberId, token);
    const author = { accountId: view.account.id, by: { kind: 'member', id: memberId } } as const;
    await this.audit.record(author, request, reply, reply.statusCode);
    this.cookie.write(request, reply, token, MAX_SESSION_SECONDS);
    return view;
  }

  /** Returns the session of this request. */
  show(memberId: string, request: FastifyRequest) {
    return this.view(memberId, this.cookie.read(request) ?? '');
  }

  async end(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    await this.sessions.endOf(this.cookie.read(request));
    this.cookie.clear(request, reply);
  }

  private async view(memberId: string, token: string) {
    const profile = await this.members.profile(memberId);
    if (!profile) throw Refusal.notFound('member');
    const { account_id: accountId, name, plan, timezone, email, role } = profile;
    return {
      account: { id: accountId, name: name === '' ? null : name, plan, timezone },
      member: { id: memberId, email, role },
      csrfToken: csrfTokenOf(token),
    };
  }
}
