import type { Server } from '@modelcontextprotocol/server';

/** Says to a client that what it may call, and what there is to read about it, may be another thing now. */
export async function sayListsChanged(server: Server): Promise<void> {
  await Promise.allSettled([server.sendToolListChanged(), server.sendResourceListChanged()]);
}
