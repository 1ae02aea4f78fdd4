import { cedarProblems } from '@sluice/authorization';
import { createConnectionBroker, credentialForServers, formsOf } from '@sluice/connections';
import { builtInTools, createMcpHub, loadToolTypes } from '@sluice/tools';
import { compileFile, systemClock } from '@sluice/service';
import type { Compiled, Environment } from '@sluice/service';

/** Compiles a file for a command that ends: the servers it had to ask are let go again. */
export function compileForCommand(
  file: string,
  { environment }: { readonly environment: Environment },
): Promise<Compiled> {
  return compileFile(file, {
    types: (folders) => loadToolTypes(folders, builtInTools),
    cedarProblems,
    discover: async (servers) => {
      const hub = createMcpHub(servers, {
        environment: (names) => environment.forChild(names),
        credential: credentialForServers(
          createConnectionBroker({ secret: (variable) => environment.secret(variable), clock: systemClock }),
        ),
        forms: formsOf,
        onChange: () => undefined,
      });
      try {
        return await hub.discover();
      } finally {
        await hub.close();
      }
    },
  });
}
