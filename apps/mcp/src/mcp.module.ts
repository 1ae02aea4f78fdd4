import type { AddressInfo } from 'node:net';
import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request, Response } from 'express';
import { programVersion } from '@sluice/core';
import {
  AUTHENTICATOR,
  authenticatorOf,
  guardHost,
  listenError,
  LoadWatch,
  nestLog,
  RUNTIME,
  RunWatch,
} from '@sluice/host';
import type { Runtime, Service } from '@sluice/host';
import { Callers } from './callers.js';
import { CallsService } from './calls.service.js';
import { Endpoint } from './endpoint.js';
import { Limits } from './limits.js';
import { ResourceWatches } from './resource-watches.js';
import { publicNames } from './loopback.js';
import { McpController } from './mcp.controller.js';
import { authorizerOf, SERVER_PARTS } from './server-parts.js';
import type { ServerParts } from './server-parts.js';
import { SessionStates } from './session-states.js';
import { StateCredentials } from './state-credentials.js';
import { Tasks } from './tasks.js';
import { TokenEndpoint } from './token-endpoint.js';

@Module({})
class McpModule {
  static with(runtime: Runtime, watch: RunWatch): DynamicModule {
    const credentials = new StateCredentials(runtime);
    return {
      module: McpModule,
      controllers: [McpController],
      providers: [
        { provide: RUNTIME, useValue: runtime },
        { provide: AUTHENTICATOR, useValue: authenticatorOf(runtime) },
        { provide: RunWatch, useValue: watch },
        { provide: SessionStates, useValue: new SessionStates(runtime) },
        { provide: StateCredentials, useValue: credentials },
        Callers,
        CallsService,
        Limits,
        {
          provide: SERVER_PARTS,
          inject: [CallsService, SessionStates, Limits],
          useFactory: (calls: CallsService, states: SessionStates, limits: Limits): ServerParts => {
            const rights = { runtime, states, loads: new LoadWatch(runtime), authorizer: authorizerOf(runtime) };
            const [tasks, watches] = [new Tasks(runtime, calls), new ResourceWatches(rights)];
            return { ...rights, calls, credentials, limits, tasks, watches, version: programVersion };
          },
        },
        Endpoint,
        TokenEndpoint,
      ],
    };
  }
}

export interface McpService extends Service {
  /** Where clients connect, as `http://host:port/mcp`. */
  readonly url: string;
}

/** Starts the MCP server: clients list the tools that they may call, and call them as runs on the log. */
export async function startMcp(runtime: Runtime): Promise<McpService> {
  const { environment, log } = runtime;
  const { host, mcpPort: port } = environment;
  const watch = new RunWatch(runtime);
  const module = McpModule.with(runtime, watch);
  // The SDK reads bodies itself, under its own limit.
  const options = { logger: nestLog(log), abortOnError: false, bodyParser: false };
  const app = await NestFactory.create<NestExpressApplication>(module, options);
  const foreign = guardHost(app.getHttpServer(), environment, () => {
    const identity = runtime.configurations.inForceOrNull()?.configuration.identity;
    return identity?.provider === 'jwt' ? publicNames(identity.audience) : [];
  });
  app.use((request: Request, response: Response, next: () => void) => {
    const refused = foreign(request);
    if (refused === null) next();
    else response.status(403).json({ jsonrpc: '2.0', error: { code: -32_000, message: refused }, id: null });
  });
  app.disable('x-powered-by');
  app.disable('etag');
  try {
    await app.listen(port, host);
  } catch (error) {
    await app.close();
    throw listenError(error, { host, port, what: 'The MCP server', variable: 'SLUICE_MCP_PORT' });
  }
  watch.start();
  const url = `http://${host}:${(app.getHttpServer().address() as AddressInfo).port}/mcp`;
  log.info({ url }, 'MCP clients are served');
  return {
    url,
    close: async () => {
      // Calls that are followed end first, with a reason; responses under way are finished.
      await watch.close();
      await app.get(Endpoint).close();
      const server = app.getHttpServer();
      const late = setTimeout(() => server.closeAllConnections(), environment.drainMs);
      server.closeIdleConnections();
      await app.close().finally(() => clearTimeout(late));
    },
  };
}
