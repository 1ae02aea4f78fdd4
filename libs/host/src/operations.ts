import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Controller, Get, Header, Inject, Module, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Environment } from './environment.js';
import { Health } from './health.js';
import { guardHost } from './host-names.js';
import { listenError } from './listen-error.js';
import { LOG, LogLevelController } from './log-level.js';
import { nestLog } from './log.js';
import type { Log } from './log.js';
import type { Metrics } from './metrics.js';

const METRICS = Symbol('metrics');

interface Response {
  status(code: number): Response;
  json(body: unknown): void;
}

@Controller()
class OperationsController {
  constructor(
    @Inject(Health) private readonly health: Health,
    @Inject(METRICS) private readonly metrics: Metrics,
  ) {}

  @Get('health/live')
  live(): object {
    return this.health.liveness();
  }

  @Get('health/ready')
  async ready(@Res() response: Response): Promise<void> {
    const report = await this.health.readiness();
    response.status(report.status === 'ok' ? 200 : 503).json(report);
  }

  @Get('metrics')
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  async scrape(): Promise<string> {
    return this.metrics.registry.metrics();
  }
}

@Module({})
class OperationsModule {}

export interface Operations {
  /** Where health and metrics are served, as `http://host:port`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves /health/live, /health/ready, /metrics and /log-level for the process. Rejects with a sentence if the port is
 * taken.
 */
export async function serveOperations(given: {
  readonly host: string;
  readonly allowedHosts: Environment['allowedHosts'];
  readonly port: number;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly log: Log;
}): Promise<Operations> {
  const module = {
    module: OperationsModule,
    controllers: [OperationsController, LogLevelController],
    providers: [
      { provide: Health, useValue: given.health },
      { provide: METRICS, useValue: given.metrics },
      { provide: LOG, useValue: given.log },
    ],
  };
  const app = await NestFactory.create(module, { logger: nestLog(given.log), abortOnError: false });
  const foreign = guardHost(app.getHttpServer(), given);
  app.use((request: IncomingMessage, response: Response, next: () => void) => {
    const refused = foreign(request);
    if (refused === null) next();
    else response.status(403).json({ statusCode: 403, message: refused, error: 'Forbidden' });
  });
  try {
    await app.listen(given.port, given.host);
  } catch (error) {
    await app.close();
    const { host, port } = given;
    throw listenError(error, { host, port, what: 'Health and metrics', variable: 'SLUICE_PORT' });
  }
  const address = app.getHttpServer().address() as AddressInfo;
  return { url: `http://${given.host}:${address.port}`, close: () => app.close() };
}
