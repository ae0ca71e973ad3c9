import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

const NAME = 'earshot_session';
/** A browser accepts a cookie with this name only if it has `Secure` and the path `/`, and names no domain. */
const SECURE_NAME = `__Host-${NAME}`;

/** Reads and writes the cookie that contains a session's token. */
export class SessionCookie {
  private readonly isPublicSecure: boolean;

  /** @param publicUrl `PUBLIC_URL`; empty if it is not known */
  constructor(private readonly publicUrl: string) {
    this.isPublicSecure = publicUrl.startsWith('https:');
  }

  /** Returns the session's token; undefined if the request has no session. */
  read(request: FastifyRequest): string | undefined {
    const { cookie } = request.headers;
    return cookie === undefined ? undefined : parseCookie(cookie)[this.nameFor(request)];
  }

  /** @param maxAgeSeconds after this time the browser deletes the cookie; 0: immediately */
  write(request: FastifyRequest, reply: FastifyReply, token: string, maxAgeSeconds: number): void {
    const cookie = stringifySetCookie({
      name: this.nameFor(request),
      value: token,
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure: this.isSecure(request),
      maxAge: maxAgeSeconds,
    });
    void reply.header('set-cookie', cookie);
  }

  clear(request: FastifyRequest, reply: FastifyReply): void {
    this.write(request, reply, '', 0);
  }

  /**
   * Returns false if the browser reports that a page of another origin sent the request. Returns true if the request
   * has neither `Sec-Fetch-Site` nor `Origin`. Such a request is from a program and not from a browser, so no other
   * page can use its cookie.
   */
  isFromOwnPage(request: FastifyRequest): boolean {
    const site = request.headers['sec-fetch-site'];
    // The browser sets this header itself, so the header does not depend on the addresses of proxies.
    if (site !== undefined) return site === 'same-origin' || site === 'none';
    const { origin } = request.headers;
    if (origin === undefined) return true;
    return origin === originOf(this.publicUrl) || origin === `${request.protocol}://${request.host}`;
  }

  private nameFor(request: FastifyRequest): string {
    return this.isSecure(request) ? SECURE_NAME : NAME;
  }

  /**
   * Returns whether the browser uses TLS. `request.protocol` uses `X-Forwarded-Proto` only if a trusted proxy sent this
   * header.
   */
  private isSecure(request: FastifyRequest): boolean {
    return this.isPublicSecure || request.protocol === 'https';
  }
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}
