import type { McpOffer, McpServer } from '@sluice/core';
import { cedarProblems } from '@sluice/authorization';
import { createConnectionBroker, credentialForServers, formsOf } from '@sluice/connections';
import { builtInTools, createMcpHub, loadToolTypes } from '@sluice/tools';
import { compileFile, systemClock } from '@sluice/service';
import type { Compiled, CompileWith, Environment } from '@sluice/service';

/** Compiles a file for a command that ends: the servers it had to ask are let go again. */
export function compileForCommand(
  file: string,
  { environment }: { readonly environment: Environment },
  more: Pick<CompileWith, 'keyFileProblem'> = {},
): Promise<Compiled> {
  return compileFile(file, {
    ...more,
    types: (folders) => loadToolTypes(folders, builtInTools),
    cedarProblems,
    isSet: (variable) => environment.forChild([variable])[variable] !== undefined,
    discover: (servers) => askServers(servers, environment),
  });
}

/** Asks MCP servers what they offer, and lets them go again. */
export async function askServers(
  servers: readonly McpServer[],
  environment: Environment,
): Promise<readonly McpOffer[]> {
  const broker = createConnectionBroker({ secret: (variable) => environment.secret(variable), clock: systemClock });
  const hub = createMcpHub(servers, {
    environment: (names) => environment.forChild(names),
    credential: credentialForServers(broker),
    forms: formsOf,
    onChange: () => undefined,
  });
  try {
    return await hub.discover();
  } finally {
    await hub.close();
  }
}
