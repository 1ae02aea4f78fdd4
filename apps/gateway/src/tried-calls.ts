import { Inject, Injectable } from '@nestjs/common';
import { authorizers, isDecidedHere } from '@sluice/authorization';
import { isOperator, wildcard } from '@sluice/core';
import type { Configuration, Decision, Evaluator, ToolSource } from '@sluice/core';
import type { Toolset } from '@sluice/contracts';
import { builtInTools } from '@sluice/packs';
import { tryCall } from '@sluice/run';
import { checkingTools } from '@sluice/tools';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import type { Caller } from './caller.js';
import { shownGroups } from './listed-tool.js';
import { mayDecide } from './open-decisions.js';

/** What the call of a request would come to, by the executor's stages; nothing of it is made. */
@Injectable()
export class TriedCalls {
  private readonly authorizerOf: ReturnType<typeof authorizers>;
  private readonly sources = new WeakMap<Configuration, ToolSource>();

  constructor(@Inject(RUNTIME) private readonly runtime: Runtime) {
    this.authorizerOf = authorizers((variable) => runtime.environment.secret(variable));
  }

  /** Null where the request makes no call. */
  async of(
    toolset: Toolset,
    offered: Decision['offered'],
    evaluator: Evaluator,
    caller: Caller,
  ): Promise<object | null> {
    const { configuration } = evaluator;
    const { principal } = caller;
    const shown = shownGroups(evaluator, principal);
    const ids = offered.map(({ id }) => id);
    const tried = await tryCall(toolset, evaluator, ids, this.runtime.clock.now(), {
      source: this.sourceOf(configuration),
      authorizer: isDecidedHere(configuration.authorization) ? this.authorizerOf(configuration) : null,
      past: this.runtime.past,
      seesOthers: isOperator(principal, configuration.identity),
      mayName: (key) => principal.groups.includes(wildcard) || shown(key).length > 0,
      onFault: (error) =>
        this.runtime.log.warn({ error: (error as Error).message }, 'a dry run of a call could not be judged'),
    });
    if (tried === null) return null;
    const isNamed = tried.needs_approval === true && maySeeApprovers(caller, configuration);
    return isNamed ? { ...tried, approvers: configuration.policy.approvers } : tried;
  }

  private sourceOf(configuration: Configuration): ToolSource {
    const source = this.sources.get(configuration) ?? checkingTools(configuration, builtInTools);
    this.sources.set(configuration, source);
    return source;
  }
}

/** Who approves is for approvers and operators to know, as on an approval and in a configuration. */
function maySeeApprovers(caller: Caller, configuration: Configuration): boolean {
  return isOperator(caller.principal, configuration.identity) || mayDecide(caller, configuration);
}
