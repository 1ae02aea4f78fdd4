import { randomUUID } from 'node:crypto';
import type { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { listChangedIn, resourceUpdatedIn } from '@sluice/contracts';
import type { WatchedResource } from '@sluice/contracts';
import { programVersion } from '@sluice/core';
import type { PassedOnList } from '@sluice/core';
import { authenticatorOf, LoadWatch, RunWatch } from '@sluice/host';
import type { Runtime, Service } from '@sluice/host';
import type { ServedTask } from '@sluice/mcp';
import { Callers } from './callers.js';
import { CallsService } from './calls.service.js';
import { noSession, taskNotification } from './connection.js';
import type { Connection } from './connection.js';
import { createServer } from './create-server.js';
import { InTurn } from './in-turn.js';
import { ListenTransport } from './listen-transport.js';
import { sayListChanged, sayListsChanged } from './lists-changed.js';
import { Limits } from './limits.js';
import { OwnSubscriptions } from './own-subscriptions.js';
import { PassedOn } from './passed-on.js';
import { keepMs, ResourceWatches } from './resource-watches.js';
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
  const watches = new ResourceWatches({ runtime, states, loads, authorizer });
  const parts: ServerParts = {
    ...{ runtime, calls, states, credentials, limits, loads, authorizer, watches },
    tasks: new Tasks(runtime, calls),
    version: programVersion,
  };
  const subscriptions = new OwnSubscriptions();
  const session = randomUUID();
  const inTurn = new InTurn();
  let changed: () => void = () => undefined;
  let listChanged: (list: PassedOnList) => void = () => undefined;
  let resourceUpdated: (uri: string) => void = () => undefined;
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const connectionOf = (isSession: boolean, tasks: Connection['tasks']): Connection => ({
    session: isSession ? session : null,
    inTurn,
    callerOf: () => caller,
    hasUniqueIds: isSession,
    ...noSession,
    ...{ subscriptions: isSession ? subscriptions : 'listen', tasks },
  });
  const opening = {
    ...{ caller, session: null, passedOn: new PassedOn(parts, connectionOf(false, null)) },
    signal: new AbortController().signal,
  };
  const listening = new ListenTransport(transport, opening, watches);
  const keeping = setInterval(() => void watches.keep([...subscriptions.all(), ...listening.all()]), keepMs).unref();
  const handle = serveStdio(
    ({ era }) => {
      const isSession = era === 'legacy';
      const say = (task: ServedTask): Promise<void> => server.notification(taskNotification(task));
      const server: Server = createServer(parts, connectionOf(isSession, isSession ? { say } : null));
      const begin = (): void => {
        changed = () => void sayListsChanged(server);
        listChanged = (list) => void sayListChanged(server, list);
        resourceUpdated = (uri) => void server.sendResourceUpdated({ uri }).catch(() => undefined);
      };
      // In the newer era nothing says that the client is ready, and the SDK sends what its streams are for.
      if (isSession) server.oninitialized = begin;
      else begin();
      server.onclose = () => end();
      return server;
    },
    {
      transport: listening,
      onerror: ({ message }) => runtime.log.debug({ error: message }, 'an MCP message was refused'),
    },
  );
  runtime.configurations.onChange(() => changed());
  watch.onServers((record) => {
    const said = listChangedIn(record);
    if (said !== null) listChanged(said.list);
    const updated = resourceUpdatedIn(record);
    if (updated === null) return;
    if (subscriptions.has(updated)) void tell(updated, session).catch(() => undefined);
    if (listening.has(updated)) void tell(updated, null).catch(() => undefined);
  });
  async function tell(updated: WatchedResource, of: string | null): Promise<void> {
    if (await watches.mayHear(caller, of, updated)) resourceUpdated(updated.uri);
  }
  return {
    ended,
    close: async () => {
      clearInterval(keeping);
      await watch.close();
      await handle.close();
    },
  };
}
