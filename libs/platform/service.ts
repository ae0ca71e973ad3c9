import 'reflect-metadata';
import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { MicroserviceOptions } from '@nestjs/microservices';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyServerOptions } from 'fastify';
import { readSettings, requireSettings, SettingsError, type SettingName, type Settings } from '#config';
import { createLogger, startTracing, type Logger } from '#telemetry';
import { CommandClient, NatsStrategy } from '#transport';
import { closePlatform, connectPlatform } from './connect.js';
import { HealthController } from './health.controller.js';
import { edgeOptions, guardEdge } from './http-edge.js';
import { checkMasterKey } from './master-key.js';
import { NestLog } from './nest-log.js';
import { BUS, CLICKHOUSE, DATABASE, LOG, STORE, WORK, type Platform, type WorkList } from './platform.js';
import { ServiceRuntime } from './service-runtime.js';
import { settledWithin } from '#kernel';
import { checkStreams } from './stream-check.js';

/** HTTP is given this much even when everything else has taken the whole grace. */
const HTTP_CLOSING_MS = 300;

/** The settings that every service reads. */
export const PLATFORM_SETTINGS = [
  'NATS_URL',
  'DATABASE_URL',
  'CLICKHOUSE_URL',
  'PORT',
  'HOST',
  'OPERATIONS_TOKEN',
  'TRUST_PROXY',
  'MAX_CONNECTIONS',
  'HTTP_HEADERS_TIMEOUT_MS',
  'HTTP_REQUEST_TIMEOUT_MS',
  'LOG_LEVEL',
  'SHUTDOWN_GRACE_MS',
  'STREAM_REPLICAS',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
] as const;
export type PlatformSettings = Settings<(typeof PLATFORM_SETTINGS)[number]>;

/**
 * Reads what a service needs from the environment: the platform's settings and its own.
 * @throws SettingsError naming what is wrong, or missing (a store's address, and MASTER_KEY where it is asked for)
 */
export function readServiceSettings<const N extends SettingName>(
  own: readonly N[],
  env: NodeJS.ProcessEnv,
): Settings<(typeof PLATFORM_SETTINGS)[number] | N> {
  const settings = readSettings([...PLATFORM_SETTINGS, ...own], env);
  const masterKey = own.filter((name) => name === 'MASTER_KEY');
  requireSettings(settings, 'NATS_URL', 'DATABASE_URL', 'CLICKHOUSE_URL', ...masterKey);
  return settings;
}

/** A service: its name and the Nest module that it is. */
export interface ServiceDefinition {
  name: string;
  module: DynamicModule;
  /** How its HTTP server differs from the others'. */
  server?(log: Logger): FastifyServerOptions;
  /** Turns the bare application into the service's HTTP interface; a service without one has health checks only. */
  http?(app: NestFastifyApplication): Promise<void> | void;
}

/** A started service. */
export interface RunningService {
  name: string;
  /**
   * Stops pulling, finishes what is under way, closes HTTP, then the connections.
   * @param graceMs how long what is under way may take, SHUTDOWN_GRACE_MS if left out; then it is cut off, and said
   */
  stop(graceMs?: number): Promise<void>;
}

@Module({})
class PlatformModule {}

/** The module that hands a service its connections. */
function platformModule(platform: Platform): DynamicModule {
  const providers = [
    { provide: LOG, useValue: platform.log },
    { provide: BUS, useValue: platform.bus },
    { provide: STORE, useValue: platform.store },
    { provide: DATABASE, useValue: platform.database },
    { provide: CLICKHOUSE, useValue: platform.clickhouse },
    { provide: CommandClient, useValue: new CommandClient(platform.bus) },
    { provide: NatsStrategy, useValue: new NatsStrategy(platform.bus, platform.log) },
  ];
  return {
    module: PlatformModule,
    global: true,
    providers,
    exports: providers.map(({ provide }) => provide),
  };
}

/**
 * The dynamic module of a service from what it consists of. Commands and consumers are its controllers. `work` lists its
 * loops; it is made by a function of providers named in `inject`.
 */
export function serviceModule(
  module: NonNullable<DynamicModule['module']>,
  parts: ModuleMetadata,
  work: { inject: readonly NonNullable<unknown>[]; list: (...parts: never[]) => WorkList } = {
    inject: [],
    list: () => ({ loops: [] }),
  },
): DynamicModule {
  return {
    module,
    imports: parts.imports ?? [],
    controllers: [HealthController, ...(parts.controllers ?? [])],
    providers: [
      ...(parts.providers ?? []),
      { provide: WORK, inject: [...work.inject] as never[], useFactory: work.list },
      ServiceRuntime,
    ],
  };
}

/**
 * Connects, starts the service and, with `listen`, its HTTP.
 * @throws Error when a store cannot be reached: the message says which
 * @throws SettingsError when MASTER_KEY, where the service has it, is another than the installation's, or when streams
 * have lost what Postgres has seen of them
 */
export async function startService(
  definition: ServiceDefinition,
  settings: PlatformSettings & { MASTER_KEY?: string },
  listen = true,
): Promise<RunningService> {
  const log = createLogger(definition.name, settings.LOG_LEVEL);
  startTracing(definition.name, settings, log);
  const platform = await connectPlatform(definition.name, settings, log);
  try {
    await checkStreams(platform.database, platform.bus);
    // Settings that a service did not ask for throw when they are read.
    if ('MASTER_KEY' in settings && settings.MASTER_KEY) await checkMasterKey(platform, settings.MASTER_KEY);
    return await startOn(platform, definition, settings, listen);
  } catch (error) {
    await closePlatform(platform);
    throw error;
  }
}

async function startOn(
  platform: Platform,
  definition: ServiceDefinition,
  settings: PlatformSettings,
  listen: boolean,
): Promise<RunningService> {
  const { log } = platform;
  const app = await createApp(platform, definition, settings);
  app.connectMicroservice<MicroserviceOptions>({ strategy: app.get(NatsStrategy, { strict: false }) });
  await app.init();
  await app.startAllMicroservices();
  const runtime = app.get(ServiceRuntime, { strict: false });
  await runtime.start();
  if (listen)
    await app.listen(settings.PORT, settings.HOST).catch(async (error: NodeJS.ErrnoException) => {
      await runtime.stop(HTTP_CLOSING_MS);
      throw new SettingsError(
        `PORT: ${settings.HOST}:${settings.PORT} cannot be listened on (${error.code})`,
      );
    });
  log.info({ ...(listen ? { port: settings.PORT } : {}) }, `${definition.name} is running`);
  return {
    name: definition.name,
    async stop(graceMs = settings.SHUTDOWN_GRACE_MS) {
      const deadline = Date.now() + graceMs;
      const cutOff = await runtime.stop(graceMs);
      const httpMs = Math.max(HTTP_CLOSING_MS, deadline - Date.now());
      if (!(await settledWithin(httpMs, app.close()))) cutOff.push('HTTP requests');
      if (cutOff.length > 0)
        log.warn({ cutOff }, `${definition.name} was stopped in the middle of: ${cutOff.join(', ')}`);
      await closePlatform(platform);
    },
  };
}

async function createApp(
  platform: Platform,
  definition: ServiceDefinition,
  settings: PlatformSettings,
): Promise<NestFastifyApplication> {
  const app = await NestFactory.create<NestFastifyApplication>(
    { module: RootModule, imports: [platformModule(platform), definition.module] },
    new FastifyAdapter({ ...edgeOptions(settings), ...definition.server?.(platform.log) }),
    // A service that reads bodies says itself how.
    { logger: new NestLog(platform.log), abortOnError: false, bodyParser: false },
  );
  guardEdge(app.getHttpAdapter().getInstance(), settings, platform.log);
  await definition.http?.(app);
  return app;
}

@Module({})
class RootModule {}
