import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

interface Question {
  id: number;
  name: string;
  detail: unknown;
}

interface Answer {
  id: number;
  value?: unknown;
  error?: string;
}

/** A process that takes part in a bench. It answers questions over IPC, each with one answer. */
export class Peer {
  private readonly open = new Map<number, { resolve(value: never): void; reject(error: Error): void }>();
  private asked = 0;

  private constructor(
    private readonly file: URL,
    private readonly child: ChildProcess,
  ) {
    child.on('message', (message) => this.settle(message as Answer));
    child.once('exit', () => {
      for (const { reject } of this.open.values()) reject(new Error(`${this.file.pathname} has ended`));
    });
  }

  /** Starts the program and waits until it accepts questions. */
  static async start(file: URL, args: readonly string[] = []): Promise<Peer> {
    const peer = new Peer(file, fork(file, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }));
    await peer.ask('ready');
    return peer;
  }

  ask<T>(name: string, detail?: unknown): Promise<T> {
    this.asked += 1;
    const question: Question = { id: this.asked, name, detail };
    const answer = new Promise<T>((resolve, reject) => this.open.set(question.id, { resolve, reject }));
    this.child.send(question);
    return answer;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill('SIGTERM');
    await once(this.child, 'exit');
  }

  private settle({ id, value, error }: Answer): void {
    const waiting = this.open.get(id);
    this.open.delete(id);
    if (error !== undefined) waiting?.reject(new Error(error));
    else waiting?.resolve(value as never);
  }
}

/** Runs a peer: one function for each question. */
export function answerQuestions(answers: Record<string, (detail: never) => unknown>): void {
  const known: Record<string, (detail: never) => unknown> = { ready: () => true, ...answers };
  process.on('message', (message) => {
    const { id, name, detail } = message as Question;
    void Promise.resolve(detail)
      .then((given) => known[name]?.(given as never))
      .then(
        (value) => process.send?.({ id, value } satisfies Answer),
        (error: unknown) => process.send?.({ id, error: String(error) } satisfies Answer),
      );
  });
  // A peer must not keep running after the bench.
  process.once('disconnect', () => process.exit());
  process.once('SIGTERM', () => process.exit());
}
