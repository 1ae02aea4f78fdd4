import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { AddressInfo } from 'node:net';
import { createAuthenticator } from '@sluice/identity';
import { AUTHENTICATOR, listenError, nestLog, RUNTIME } from '@sluice/service';
import type { Runtime, Service } from '@sluice/service';
import { ApprovalsController } from './approvals.controller.js';
import { Callers } from './caller.js';
import { countRequests } from './count-requests.js';
import { RefusalFilter } from './refusal.js';
import { RunsController } from './runs.controller.js';
import { RunsService } from './runs.service.js';
import { ToolsController } from './tools.controller.js';
import { RunWatch } from './watch/run-watch.js';

/** Of a body; as JSON a record of the largest size takes somewhat more than on the log. */
const longestBody = '1mb';

@Module({})
export class GatewayModule {
  static with(runtime: Runtime, watch: RunWatch): DynamicModule {
    return {
      module: GatewayModule,
      controllers: [RunsController, ApprovalsController, ToolsController],
      providers: [
        { provide: RUNTIME, useValue: runtime },
        { provide: AUTHENTICATOR, useValue: createAuthenticator() },
        { provide: RunWatch, useValue: watch },
        Callers,
        RunsService,
      ],
    };
  }
}

export interface Gateway extends Service {
  /** Where it listens, as `http://host:port`. */
  readonly url: string;
}

/** Starts the gateway: requests and decisions come in over HTTP and go onto the log, and runs are streamed as they go on. */
export async function startGateway(runtime: Runtime): Promise<Gateway> {
  const { environment, log } = runtime;
  const { host, httpPort: port } = environment;
  const watch = new RunWatch(runtime);
  const app = await NestFactory.create<NestExpressApplication>(GatewayModule.with(runtime, watch), {
    logger: nestLog(log),
    abortOnError: false,
  });
  app.use(countRequests(runtime.metrics));
  app.useBodyParser('json', { limit: longestBody });
  app.useGlobalFilters(new RefusalFilter(log));
  app.disable('x-powered-by');
  app.disable('etag');
  try {
    await app.listen(port, host);
  } catch (error) {
    await app.close();
    throw listenError(error, { host, port, what: 'The gateway', variable: 'SLUICE_HTTP_PORT' });
  }
  watch.start();
  const url = `http://${host}:${(app.getHttpServer().address() as AddressInfo).port}`;
  log.info({ url }, 'requests over HTTP are taken');
  return {
    url,
    close: async () => {
      // Streams of runs end first, with a reason; responses under way are finished.
      await watch.close();
      await closeServer(app, environment.drainMs);
    },
  };
}

/** Connections that are idle would hold up the end, and so would readers that do not read: they are closed, the latter after the drain time. */
async function closeServer(app: NestExpressApplication, drainMs: number): Promise<void> {
  const server = app.getHttpServer();
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const late = setTimeout(() => server.closeAllConnections(), drainMs);
  try {
    await app.close();
  } finally {
    clearInterval(idle);
    clearTimeout(late);
  }
}
