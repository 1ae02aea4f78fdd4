import type { Server } from '@modelcontextprotocol/server';
import { ClientLog } from './client-log.js';
import type { Connection } from './connection.js';
import { offersSubscriptions, passesOn, tasksExtension } from '@sluice/mcp';
import { PassedOn, servePrompts } from './passed-on.js';
import { serveCalls } from './serve-calls.js';
import { serveLists } from './serve-lists.js';
import { serveSubscriptions } from './serve-subscriptions.js';
import { serveTaskExtension } from './serve-task-extension.js';
import { serveTasks } from './serve-tasks.js';
import type { ServerParts } from './server-parts.js';
import { TaskExtensionServer, TaskServer } from './task-server.js';

const instructions =
  'Which tools there are depends on who calls and on the state that the calls so far led to: list the tools again after the server says that the list has changed. A refused call says why, and what to do. A call that waits for an approval answers “pending”: call it again with the same arguments after the decision. All there is to know about a tool is in the resource of its name.';

const picture =
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><path d='M2 2v12M14 2v12M2 6h12M5 10h6' stroke='#456' stroke-width='2' fill='none'/></svg>";
const icon = `data:image/svg+xml;base64,${Buffer.from(picture).toString('base64')}`;

/** Answers that a client may bring to one call. */
const mostRounds = 32;
const notCacheable = { ttlMs: 0, cacheScope: 'private' } as const;

/** A server of the SDK over Sluice’s services: what it lists and what it calls is decided where everything is. */
export function createServer(parts: ServerParts, connection: Connection): Server {
  const { evaluator } = parts.runtime.configurations.current();
  const hasPrompts = passesOn('prompt', evaluator);
  const subscribes = connection.subscriptions !== null && offersSubscriptions(evaluator);
  const hasTasks = connection.tasks !== null;
  const server = new (hasTasks ? TaskServer : TaskExtensionServer)(
    {
      name: 'sluice',
      title: 'Sluice',
      version: parts.version,
      icons: [{ src: icon, mimeType: 'image/svg+xml', sizes: ['any'] }],
    },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { listChanged: true, ...(subscribes ? { subscribe: true } : {}) },
        ...(hasPrompts ? { prompts: { listChanged: true } } : {}),
        completions: {},
        logging: {},
        ...(hasTasks
          ? { tasks: { list: {}, cancel: {}, requests: { tools: { call: {} } } } }
          : { extensions: { [tasksExtension]: {} } }),
      },
      // A call may show forms of its tool’s server, one after another, beside its approval.
      inputRequired: { maxRounds: mostRounds },
      instructions,
      cacheHints: {
        'tools/list': notCacheable,
        'resources/list': notCacheable,
        'resources/read': notCacheable,
        'resources/templates/list': notCacheable,
      },
    },
  );
  const passedOn = new PassedOn(parts, connection);
  if (hasPrompts) servePrompts(server, passedOn);
  serveLists(server, parts, connection, passedOn);
  serveSubscriptions(server, connection, passedOn, parts.watches);
  const log = new ClientLog(server, connection);
  serveCalls(server, parts, connection, log);
  if (hasTasks) serveTasks({ server, parts, connection }, log);
  else serveTaskExtension({ server, parts, connection });
  return server;
}
