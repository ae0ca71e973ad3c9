import 'reflect-metadata';
import type { Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { MicroserviceOptions } from '@nestjs/microservices';
import type { Bus } from '#messaging';
import { createLogger } from '#telemetry';
import { NatsStrategy } from '../nats-strategy.js';

// Only for specs: one replica of a service that consists of the given controllers.

/** A running replica. */
export interface Replica {
  strategy: NatsStrategy;
  stop(): Promise<void>;
}

/** Starts a replica with these controllers. */
export async function startReplica(bus: Bus, ...controllers: Type[]): Promise<Replica> {
  const strategy = new NatsStrategy(bus, createLogger('spec', 'silent'));
  const app = await NestFactory.createMicroservice<MicroserviceOptions>(
    { module: class SpecModule {}, controllers },
    { strategy, logger: false, abortOnError: false },
  );
  await app.listen();
  // After this flush, the server has received the subscriptions.
  await bus.nc.flush();
  return { strategy, stop: () => app.close() };
}
