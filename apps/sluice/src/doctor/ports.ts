import { createServer } from 'node:net';
import type { CheckResult } from '@sluice/core';
import type { Environment } from '@sluice/host';
import type { Check } from './check.js';

const probeMs = 2_000;

interface Port {
  readonly name: string;
  readonly what: string;
  readonly variable: string;
  readonly port: number;
  /** A path of Sluice there, and how its answer is recognised. */
  readonly path: string;
  isOwn(body: string): boolean;
}

/** Each port of a process with all services: free, or Sluice’s own already. */
export function portChecks(environment: Environment): readonly Check[] {
  const { host, port, httpPort, proxyPort, mcpPort } = environment;
  const ports: readonly Port[] = [
    {
      ...{ name: 'health', what: 'health and metrics', variable: 'SLUICE_PORT', port },
      ...{ path: '/health/live', isOwn: (body) => /"checks":\{"event loop"/.test(body) },
    },
    {
      ...{ name: 'gateway', what: 'the gateway', variable: 'SLUICE_HTTP_PORT', port: httpPort },
      ...{ path: '/v1/console', isOwn: (body) => /"sign_in":\[/.test(body) },
    },
    {
      ...{ name: 'proxy', what: 'the proxy', variable: 'SLUICE_PROXY_PORT', port: proxyPort },
      // It passes everything on, or has no upstream; only its own port says more.
      ...{ path: '/', isOwn: (body) => /proxy\.upstreams|"type":"proxy_error"/.test(body) },
    },
    {
      ...{ name: 'mcp', what: 'the MCP server', variable: 'SLUICE_MCP_PORT', port: mcpPort },
      ...{ path: '/mcp', isOwn: (body) => /"jsonrpc":"2\.0"/.test(body) },
    },
  ];
  return ports.map((one) => ({ check: `port.${one.name}`, run: () => look(host, one) }));
}

async function look(host: string, { what, variable, port, path, isOwn }: Port): Promise<CheckResult> {
  if (port === 0) return { outcome: 'ok', detail: `For ${what} any free port is used.` };
  const problem = await listening(host, port);
  if (problem === null) return { outcome: 'ok', detail: `Port ${port} is free for ${what}.` };
  if (problem === 'EADDRINUSE') {
    if (isOwn(await answerOf(`http://${near(host)}:${port}${path}`)))
      return { outcome: 'ok', detail: `Port ${port} is held by Sluice itself, for ${what}.` };
    return {
      ...{
        outcome: 'failed',
        detail: `Port ${port} on ${host} is taken by another program, and is meant for ${what}.`,
      },
      action: `Stop that program, or set ${variable} to a free port (0 picks one).`,
    };
  }
  if (problem === 'EACCES')
    return {
      ...{ outcome: 'failed', detail: `This user may not use port ${port}, which is meant for ${what}.` },
      action: `Set ${variable} to one above 1023.`,
    };
  return {
    ...{ outcome: 'failed', detail: `Nothing can listen on ${host}:${port} (${problem}), which is meant for ${what}.` },
    action: `Check SLUICE_HOST and ${variable}.`,
  };
}

/** Listens for a moment; the system’s name of the error, or null. */
function listening(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

async function answerOf(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(probeMs) });
    return (await response.text()).slice(0, 10_000);
  } catch {
    return '';
  }
}

/** An address that a program on this machine can ask. */
function near(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
}
