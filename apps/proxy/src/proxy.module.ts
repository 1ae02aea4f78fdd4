import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AUTHENTICATOR, authenticatorOf, guardHost, listenError, nestLog, RUNTIME } from '@sluice/host';
import type { Runtime, Service } from '@sluice/host';
import { TokenCounter } from '@sluice/tokens';
import { Listener } from './listener.js';
import { ProxyService } from './proxy.service.js';

@Module({})
class ProxyModule {
  static with(runtime: Runtime, counter: TokenCounter): DynamicModule {
    return {
      module: ProxyModule,
      providers: [
        { provide: RUNTIME, useValue: runtime },
        { provide: AUTHENTICATOR, useValue: authenticatorOf(runtime) },
        { provide: TokenCounter, useValue: counter },
        ProxyService,
      ],
    };
  }
}

export interface Proxy extends Service {
  /** Where it listens, as `http://host:port`. */
  readonly url: string;
}

/**
 * Starts the proxy in front of model APIs. It has Node’s own server and no framework’s: headers pass in their
 * spelling and order, and bodies unread where no part of the proxy needs them. `shared` counts tokens for several
 * proxies of a process, and stays open.
 */
export async function startProxy(runtime: Runtime, shared?: TokenCounter): Promise<Proxy> {
  const counter = shared ?? new TokenCounter({ inThread: true });
  const { environment, log } = runtime;
  const { host, proxyPort: port } = environment;
  requireSelectorKey(runtime);
  const app = await NestFactory.createApplicationContext(ProxyModule.with(runtime, counter), {
    logger: nestLog(log),
    abortOnError: false,
  });
  const service = app.get(ProxyService);
  const listener = new Listener((incoming, outgoing) => {
    const refused = foreign(incoming);
    if (refused === null) void service.handle(incoming, outgoing);
    else service.refuse(incoming, outgoing, refused);
  });
  const { server } = listener;
  const foreign = guardHost(server, environment);
  try {
    await listen(server, port, host);
  } catch (error) {
    await app.close();
    throw listenError(error, { host, port, what: 'The proxy', variable: 'SLUICE_PROXY_PORT' });
  }
  const url = `http://${host}:${(server.address() as AddressInfo).port}`;
  log.info({ url }, 'requests to model APIs are proxied');
  return {
    url,
    close: async () => {
      await listener.close(environment.drainMs);
      await service.close();
      await app.close();
      if (shared === undefined) await counter.close();
    },
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

/**
 * A service that selects tools is never asked without the key that the configuration names for it (tool-discovery.md
 * 12).
 */
function requireSelectorKey({ configurations, environment }: Runtime): void {
  const pipe = configurations.inForceOrNull()?.configuration.pipes?.toolDiscovery;
  const name = pipe?.enabled === true ? pipe.api.apiKeyEnv : null;
  if (name !== null && environment.secret(name) === undefined)
    throw new Error(
      `The variable ${name} is not set, which pipes.tool_discovery.api.api_key names. Set it where the proxy starts, or take the key out.`,
    );
}
