import 'reflect-metadata';
import { Module, type DynamicModule, type ModuleMetadata } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { MicroserviceOptions } from '@nestjs/microservices';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyServerOptions } from 'fastify';
import { readSettings, requireSettings, SettingsError, type SettingName, type Settings } from '#config';
import { isOutage } from '#outages';
import { createLogger, startTracing, type Logger } from '#telemetry';
import { CommandClient, NatsStrategy } from '#transport';
import { closePlatform, connectPlatform } from './connect.js';
import { HealthController } from './health.controller.js';
import { edgeOptions, guardEdge } from './http-edge.js';
import { checkMasterKey, shareReportKey } from './master-key.js';
import { NestLog } from './nest-log.js';
import { BUS, CLICKHOUSE, DATABASE, LOG, STORE, WORK, type Platform, type WorkList } from './platform.js';
import { ServiceRuntime } from './service-runtime.js';
import { settledWithin } from '#kernel';
import { checkStreams } from './stream-check.js';

/** Minimum time for closing HTTP, even if other work has used the whole grace period. */
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
/** The settings that every service has. */
export type PlatformSettings = Settings<(typeof PLATFORM_SETTINGS)[number]>;

/**
 * Reads a service's settings from the environment: the platform's and its own.
 * @throws SettingsError that names the wrong settings, or the missing ones: the addresses of NATS, Postgres and
 *   ClickHouse, and MASTER_KEY if the service lists it
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

/** A service: its name and its Nest module. */
export interface ServiceDefinition {
  name: string;
  module: DynamicModule;
  /** Options of its HTTP server that differ from the default. */
  server?(log: Logger): FastifyServerOptions;
  /**
   * Adds the service's HTTP interface to the Nest application. A service without this function has only the routes of
   * `HealthController`.
   */
  http?(app: NestFastifyApplication): Promise<void> | void;
}

/** A started service. */
export interface RunningService {
  name: string;
  /**
   * Accepts no more messages and commands, finishes running work, closes HTTP, then the connections.
   * @param graceMs how long running work can take, SHUTDOWN_GRACE_MS by default; then it is interrupted and reported
   */
  stop(graceMs?: number): Promise<void>;
}

@Module({})
class PlatformModule {}

/** Returns the module that provides the connections. */
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
 * Makes the dynamic module of a service from its parts. Its controllers handle commands and consumers. `work.list`
 * makes the list of its loops from the providers in `work.inject`.
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
 * Connects, starts the service and, with `listen`, its HTTP server.
 * @throws Error that names a store that cannot be reached or prepared
 * @throws Error if a rebuild of tables fails
 * @throws SettingsError if MASTER_KEY is not the key of this installation, if streams have lost messages that Postgres
 *   has applied, or if PORT cannot be used. Also if the tables of a projection belong to a newer release, or if they
 *   belong to an older release and the projection has no rebuild
 */
export async function startService(
  definition: ServiceDefinition,
  settings: PlatformSettings & { MASTER_KEY?: string },
  listen = true,
): Promise<RunningService> {
  const log = createLogger(definition.name, settings.LOG_LEVEL, isOutage);
  startTracing(definition.name, settings, log);
  const platform = await connectPlatform(definition.name, settings, log);
  try {
    await checkStreams(platform.database, platform.bus);
    // Reading a setting that the service has not listed throws.
    if ('MASTER_KEY' in settings && settings.MASTER_KEY) {
      await checkMasterKey(platform, settings.MASTER_KEY);
      await shareReportKey(platform.database, settings.MASTER_KEY);
    }
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
      throw new SettingsError(`PORT: ${settings.HOST}:${settings.PORT} cannot be used (${error.code})`);
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
        log.warn({ cutOff }, `${definition.name} was stopped during: ${cutOff.join(', ')}`);
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
    // A service that reads bodies registers its own parser.
    { logger: new NestLog(platform.log), abortOnError: false, bodyParser: false },
  );
  guardEdge(app.getHttpAdapter().getInstance(), settings, platform.log);
  await definition.http?.(app);
  return app;
}

@Module({})
class RootModule {}
