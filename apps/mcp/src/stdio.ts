import { randomUUID } from 'node:crypto';
import type { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { listChangedIn } from '@sluice/contracts';
import { programVersion } from '@sluice/core';
import type { PassedOnList } from '@sluice/core';
import { authenticatorOf, LoadWatch, RunWatch } from '@sluice/host';
import type { Runtime, Service } from '@sluice/host';
import type { ServedTask } from '@sluice/mcp';
import { Callers } from './callers.js';
import { CallsService } from './calls.service.js';
import { noSession, taskNotification } from './connection.js';
import { createServer } from './create-server.js';
import { InTurn } from './in-turn.js';
import { sayListChanged, sayListsChanged } from './lists-changed.js';
import { Limits } from './limits.js';
import { authorizerOf } from './server-parts.js';
import type { ServerParts } from './server-parts.js';
import { SessionStates } from './session-states.js';
import { StateCredentials } from './state-credentials.js';
import { Tasks } from './tasks.js';

interface StdioService extends Service {
  /** Resolves when the client has closed its end. */
  readonly ended: Promise<void>;
}

/**
 * Serves one MCP client over standard input and output, for the caller of the credential. Rejects with a sentence if
 * the credential does not hold. The connection is one session.
 */
export async function serveOverStdio(
  runtime: Runtime,
  token: string | undefined,
  transport: StdioServerTransport,
): Promise<StdioService> {
  const credentials = new StateCredentials(runtime);
  const callers = new Callers(runtime, authenticatorOf(runtime), credentials);
  const found = await callers.of(token === undefined ? undefined : `Bearer ${token}`);
  if ('refused' in found) throw new Error(`${found.refused} SLUICE_TOKEN holds it.`);
  // Who started this process reads the data folder, and with it the local secret, or may write to the log.
  const caller = { ...found, mayDecide: true };
  const watch = new RunWatch(runtime);
  watch.start();
  const states = new SessionStates(runtime);
  const calls = new CallsService(runtime, callers, watch, states);
  const limits = new Limits(runtime);
  const authorizer = authorizerOf(runtime);
  const loads = new LoadWatch(runtime);
  const parts: ServerParts = {
    runtime,
    calls,
    states,
    credentials,
    limits,
    loads,
    authorizer,
    tasks: new Tasks(runtime, calls),
    version: programVersion,
  };
  const session = randomUUID();
  const inTurn = new InTurn();
  let changed: () => void = () => undefined;
  let listChanged: (list: PassedOnList) => void = () => undefined;
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const handle = serveStdio(
    ({ era }) => {
      const isSession = era === 'legacy';
      const given = {
        session: isSession ? session : null,
        inTurn,
        callerOf: () => caller,
        hasUniqueIds: isSession,
        tasks: isSession ? { say: (task: ServedTask) => server.notification(taskNotification(task)) } : null,
        ...noSession,
      };
      const server: Server = createServer(parts, given);
      server.oninitialized = () => {
        changed = () => void sayListsChanged(server);
        listChanged = (list) => void sayListChanged(server, list);
      };
      server.onclose = () => end();
      return server;
    },
    { transport, onerror: ({ message }) => runtime.log.debug({ error: message }, 'an MCP message was refused') },
  );
  runtime.configurations.onChange(() => changed());
  watch.onServers((record) => {
    const said = listChangedIn(record);
    if (said !== null) listChanged(said.list);
  });
  return {
    ended,
    close: async () => {
      await watch.close();
      await handle.close();
    },
  };
}
