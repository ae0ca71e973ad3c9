import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { DashboardFiles } from './dashboard-files.js';

/** The dashboard is not served below these paths: the API answers requests for unknown addresses there. */
const API_PATHS = /^\/(v1|mcp|docs|feeds|reports|channels)\/|^\/(v1|mcp|docs)$/;

const NOT_BUILT = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Earshot</title></head><body>
<h1>The dashboard is not built</h1>
<p>The API of this gateway works. To build the dashboard, run <code>npm run build</code> in the checkout and start the gateway again.</p>
</body></html>`;

/**
 * Serves the dashboard at `/`. If the request accepts HTML, also serves the dashboard at every address that has no
 * route, is not below `API_PATHS` and does not name a file. The dashboard's script decides what to show. Most programs
 * do not ask for HTML, so they get the API's 404.
 */
export function serveDashboard(fastify: FastifyInstance, files: DashboardFiles): void {
  fastify.addHook('onRequest', (request, reply, done) => {
    if (!isPage(request)) return done();
    sendDashboard(reply, files);
  });
}

function isPage({ method, url, headers, routeOptions }: FastifyRequest): boolean {
  if (routeOptions.url !== undefined || (method !== 'GET' && method !== 'HEAD')) return false;
  const path = url.replace(/[?#].*$/s, '');
  if (path === '/') return true;
  const isFile = /\.[^/]*$/.test(path);
  return !isFile && !API_PATHS.test(path) && (headers.accept ?? '').includes('text/html');
}

function sendDashboard(reply: FastifyReply, files: DashboardFiles): void {
  const nonce = randomBytes(16).toString('base64');
  const html = files.page(nonce);
  void reply
    .status(html === undefined ? 503 : 200)
    .type('text/html; charset=utf-8')
    .headers({
      'content-security-policy': policy(nonce),
      'cache-control': 'private, no-cache',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'x-robots-tag': 'noindex',
      vary: 'accept',
    })
    .send(html ?? NOT_BUILT);
}

function policy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "object-src 'none'",
  ].join('; ');
}
