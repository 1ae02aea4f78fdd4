import type { Server } from '@modelcontextprotocol/server';
import type { WatchedResource } from '@sluice/contracts';
import { mostSubscriptions, toolOfPage } from '@sluice/mcp';
import { invalid } from './call-texts.js';
import type { Caller } from './callers.js';
import type { Connection } from './connection.js';
import type { PassedOn } from './passed-on.js';
import type { ResourceWatches } from './resource-watches.js';

/** The longest address that is watched, in characters. */
const longestUri = 2_048;

/** What a subscription goes by. */
interface Wanted {
  readonly uri: string;
  readonly caller: Caller;
  readonly signal: AbortSignal;
}

/**
 * Has a resource watched for the caller, who may read it now: its server has accepted that. Throws an error of the
 * protocol where it may not be.
 */
export async function watch(
  { uri, caller, signal }: Wanted,
  passedOn: PassedOn,
  watches: ResourceWatches,
): Promise<WatchedResource> {
  if (uri.length > longestUri) throw invalid(`An address may have ${longestUri} characters.`);
  if (toolOfPage(uri) !== null) throw invalid('A page about a tool changes with the list of resources alone.');
  const watched = await passedOn.subscribe(uri, caller, signal);
  if (watched === null) throw invalid('There is no such resource. List the resources.');
  if (!(await watches.begin(watched))) throw invalid('As many resources are watched as may be. Try again later.');
  return watched;
}

/** Serves `resources/subscribe` and its end, of the older era. */
export function serveSubscriptions(
  server: Server,
  connection: Connection,
  passedOn: PassedOn,
  watches: ResourceWatches,
): void {
  const { subscriptions } = connection;
  if (subscriptions === null || subscriptions === 'listen') return;
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }, context) => {
    const caller = connection.callerOf(context);
    const watched = await watch({ uri, caller, signal: context.mcpReq.signal }, passedOn, watches);
    if (await subscriptions.add(watched)) return {};
    throw invalid(`A session may subscribe to ${mostSubscriptions} resources. End the subscription to another one.`);
  });
  server.setRequestHandler('resources/unsubscribe', async ({ params: { uri } }) => {
    await subscriptions.remove(uri);
    return {};
  });
}
