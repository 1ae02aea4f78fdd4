import { Controller, Inject } from '@nestjs/common';
import { agentsFor, groupsForAgent, mayCancelRunsOf } from '@sluice/core';
import type { Configuration, Principal } from '@sluice/core';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { Route } from './openapi/route.js';
import { ByPrincipal } from './rights.js';

/** Which agents there are for a caller: those that it may ask, of the configuration in force. */
@Controller()
export class AgentsController {
  constructor(@Inject(RUNTIME) private readonly runtime: Pick<Runtime, 'configurations'>) {}

  @Route('listAgents')
  agents(@ByPrincipal() caller: Principal): object {
    const { configuration } = this.runtime.configurations.current();
    const agents = agentsFor(caller, configuration).map((name) => listed(name, caller, configuration));
    return { config_version: configuration.version, agents };
  }
}

/** As far as the caller may ask for its groups. */
function listed(name: string, caller: Principal, configuration: Configuration): object {
  const { agents = {}, groupTree } = configuration;
  const { description = null, groups, answerSchema } = (Object.hasOwn(agents, name) ? agents[name] : undefined) ?? {};
  return {
    ...{ name, description },
    groups: groupsForAgent(null, groups, caller.groups, groupTree),
    has_answer_schema: answerSchema !== undefined,
    may_cancel: mayCancelRunsOf({ agent: name, call: null }, caller, configuration),
  };
}
