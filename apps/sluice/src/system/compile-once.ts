import { formatProblems } from '@sluice/configuration';
import type { Configuration, McpOffer, McpServer } from '@sluice/core';
import { cedarClaims, cedarProblems } from '@sluice/authorization';
import { createConnectionBroker, credentialForServers, formsOf } from '@sluice/connections';
import { loadToolTypes } from '@sluice/sources';
import { argumentsProblem } from '@sluice/tools';
import { builtInTools } from '@sluice/packs';
import { createMcpHub } from '@sluice/hub';
import { compileFile, systemClock } from '@sluice/host';
import type { Compiled, CompileWith, Environment } from '@sluice/host';

/** Compiles a file for a command that ends: the servers it had to ask are let go again. */
export function compileForCommand(
  file: string,
  { environment }: { readonly environment: Environment },
  more: Pick<CompileWith, 'keyFileProblem' | 'names' | 'pins'> & Partial<Pick<CompileWith, 'discover'>> = {},
): Promise<Compiled> {
  return compileFile(file, {
    discover: (servers) => askServers(servers, environment),
    ...more,
    types: (folders) => loadToolTypes(folders, builtInTools),
    cedarProblems,
    cedarClaims,
    argumentsProblem,
    isSet: (variable) => environment.forChild([variable])[variable] !== undefined,
  });
}

/** The same for a command that can do nothing without the configuration. Throws with its mistakes. */
export async function configurationOf(...given: Parameters<typeof compileForCommand>): Promise<Configuration> {
  const { configuration, problems } = await compileForCommand(...given);
  if (configuration !== null) return configuration;
  throw new Error(`The configuration ${given[0]} has mistakes:\n${formatProblems(problems)}`);
}

/** Asks MCP servers what they offer, and lets them go again, also where the signal ends it before they answer. */
export async function askServers(
  servers: readonly McpServer[],
  environment: Environment,
  signal?: AbortSignal,
): Promise<readonly McpOffer[]> {
  const broker = createConnectionBroker({ secret: (variable) => environment.secret(variable), clock: systemClock });
  const hub = createMcpHub(servers, {
    environment: (names) => environment.forChild(names),
    credential: credentialForServers(broker),
    forms: formsOf,
    onChange: () => undefined,
  });
  signal?.addEventListener('abort', () => void hub.close(), { once: true });
  try {
    return await hub.discover();
  } finally {
    await hub.close();
  }
}
