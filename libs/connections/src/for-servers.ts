import type { ConnectionBroker, McpServer } from '@sluice/core';

const nobody = { tenantId: null, actorId: null, subjectId: null } as const;
const unlimited = new AbortController().signal;

/**
 * What Sluice itself shows an MCP server when it asks what the server offers: the broker is asked without a caller.
 * Rejects with a sentence where there is none.
 */
export function credentialForServers(broker: ConnectionBroker) {
  return async ({ id, connection }: McpServer, refused?: string): Promise<string> => {
    if (connection === undefined) throw new Error(`The MCP server ${id} has no connection.`);
    const before = refused === undefined ? undefined : { token: refused, expiresAt: null };
    const answer = await broker.credential(connection, nobody, unlimited, before);
    if (answer.ok) return answer.credential.token;
    throw new Error(`The MCP server ${id} was not asked, since there is no credential for it. ${answer.message}`);
  };
}
