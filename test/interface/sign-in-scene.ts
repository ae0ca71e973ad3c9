import { create } from '@bufbuild/protobuf';
import { RequestPasswordResetSchema } from '#contracts';
import { COMMANDS, connectBus, type Bus } from '#messaging';
import { createLogger } from '#telemetry';
import { CommandClient } from '#transport';
import { Browser } from './browser.js';
import { startInterface, type InterfaceUnderTest } from './interface-under-test.js';
import { firstOwner } from './people.js';

/** The email address of the first owner. */
export const EMAIL = 'ada@example.org';

/** Returns the statuses of answers, sorted. */
export const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).sort();

/** The interface, its owner, and gateways behind a trusted proxy. The tests of signing in share them. */
export class SignInScene {
  service!: InterfaceUnderTest;
  owner!: Browser;
  bus!: Bus;
  /** A gateway behind a trusted proxy. The proxy sends the client's address. */
  proxied!: string;
  /**
   * Two more such gateways, for the tests with many failed sign-ins. A gateway remembers for two seconds that an email
   * address or a network has no attempt left.
   */
  attacked!: string;
  alsoAttacked!: string;

  async start(): Promise<void> {
    this.service = await startInterface();
    this.owner = await firstOwner(this.service.url, EMAIL);
    this.bus = await connectBus(this.service.stores.natsUrl, 'spec', createLogger('spec', 'silent'));
    [this.proxied = '', this.attacked = '', this.alsoAttacked = ''] = await Promise.all(
      [1, 2, 3].map(() => this.service.anotherGateway({ TRUST_PROXY: '127.0.0.1' })),
    );
  }

  async stop(): Promise<void> {
    await this.bus?.close();
    await this.service?.stop();
  }

  /** Deletes the recorded attempts to sign in. */
  async clear(): Promise<void> {
    await this.service.database.query('DELETE FROM auth_attempts');
  }

  readonly browser = (headers?: Record<string, string>, url = this.service.url) => new Browser(url, headers);

  /** Returns a browser with this network address, at the gateway `attacked`. */
  readonly from = (address: string) => this.browser({ 'x-forwarded-for': address }, this.attacked);

  readonly signIn = (one: Browser, email: string, password: string) =>
    one.post('/v1/auth/sign-in', { email, password });

  readonly resetToken = async (email: string) =>
    (
      await new CommandClient(this.bus).request(
        COMMANDS.requestPasswordReset,
        create(RequestPasswordResetSchema, { email }),
      )
    ).token;
}
