import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Answers one request. `body` is the text of the request. */
export type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;

/** A server that gives its answers in turn, and then repeats the last answer. */
export class ScriptedServer {
  readonly seen: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = [];
  private constructor(
    private readonly answers: readonly Answer[],
    readonly close: () => Promise<void>,
    readonly url: string,
  ) {}

  static async of(...answers: Answer[]): Promise<ScriptedServer> {
    const server = createServer((request, response) => void script.answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const close = () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    const script = new ScriptedServer(
      answers,
      close,
      `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    );
    return script;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const { method = '', url = '', headers } = request;
    this.seen.push({ method, url, headers, body });
    this.answers[Math.min(this.seen.length, this.answers.length) - 1]?.(request, response, body);
  }
}

/** Answers with this JSON. */
export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'r-1', ...headers });
    response.end(JSON.stringify(body));
  };
/** Closes the connection without an answer. */
export const broken: Answer = (request) => request.socket.destroy();
