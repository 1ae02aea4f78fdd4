import type { Server } from '@modelcontextprotocol/server';
import type { PassedOnList } from '@sluice/core';

/** Says to a client that what it may call, and what there is to read about it, may be another thing now. */
export async function sayListsChanged(server: Server): Promise<void> {
  await Promise.allSettled([
    server.sendToolListChanged(),
    server.sendResourceListChanged(),
    // Refused by the SDK where the server has none.
    server.sendPromptListChanged(),
  ]);
}

/** Says to a client that a list of an upstream server is another one now. */
export async function sayListChanged(server: Server, list: PassedOnList): Promise<void> {
  const said = list === 'resources' ? server.sendResourceListChanged() : server.sendPromptListChanged();
  await said.catch(() => undefined);
}
