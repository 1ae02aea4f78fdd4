import { agentName, defaultAgent, localPrincipal, longestAgent, normaliseState } from '@sluice/core';
import type { RunErrorCode, Tenant } from '@sluice/core';
import type {
  AgentRequest,
  AgentResponse,
  AgentStep,
  IncompleteAnswer,
  Run,
  StrategyDecision,
  TurnModel,
} from '@sluice/contracts';

/** An AgentResponse of kind error for a request that has begun or not. */
export function errorResponse(
  ids: { readonly requestId: string; readonly sessionId: string },
  error: { readonly code: RunErrorCode; readonly message: string },
  about: {
    readonly request: AgentRequest | null;
    readonly run: Run | null;
    readonly configVersion: string;
    /** For which tenant, where it is known and there is no run to say it. */
    readonly tenant?: Tenant;
  },
  endedAt: number,
): AgentResponse {
  return {
    ...ids,
    kind: 'error',
    answer: null,
    error,
    question: about.request?.question ?? '',
    state: normaliseState(about.request?.state),
    history: (about.request?.history ?? []).map(withoutProviderData),
    run: about.run,
    iterations: about.run?.iteration ?? 0,
    configVersion: about.configVersion,
    endedAt,
    tenantId: about.run === null && about.tenant !== localPrincipal.tenantId ? (about.tenant ?? null) : null,
    model: null,
    decision: null,
    incomplete: null,
    budgets: [],
    structured: null,
    agent: about.request === null ? null : agentOfEnd(about.request, about.run),
    recordSignature: null,
  };
}

/** An AgentResponse of kind answer: the model’s, or that of a tool that ended the run. */
export function answerResponse(
  ids: { readonly requestId: string; readonly sessionId: string },
  answer: string,
  about: {
    readonly request: AgentRequest;
    readonly run: Run;
    readonly configVersion: string;
    /** After the default. */
    readonly state: string;
    /** The model that gave it; absent where a tool did. */
    readonly model?: TurnModel | null;
    readonly decision?: StrategyDecision | null;
    /** Why the model’s text is not its whole answer; absent where it is. */
    readonly incomplete?: IncompleteAnswer | null;
    /** The answer as JSON text, where it had to fit a schema. */
    readonly structured?: string | null;
  },
  endedAt: number,
): AgentResponse {
  const { request, run, configVersion, state } = about;
  return {
    requestId: ids.requestId,
    sessionId: ids.sessionId,
    kind: 'answer',
    answer,
    error: null,
    question: request.question,
    state,
    history: request.history.map(withoutProviderData),
    run,
    iterations: run.iteration,
    configVersion,
    endedAt,
    tenantId: null,
    model: about.model ?? null,
    decision: about.decision ?? null,
    incomplete: about.incomplete ?? null,
    budgets: [],
    structured: about.structured ?? null,
    agent: agentOfEnd(request, run),
    recordSignature: null,
  };
}

/** The agent that a caller asked, null for the default one; no agent has a longer name than a request may give. */
function agentOfEnd({ agent, call }: Pick<AgentRequest, 'agent' | 'call'>, run: Run | null): string | null {
  if (call !== null || (run !== null && run.parent !== null)) return null;
  const name = agentName({ agent });
  return name === defaultAgent || name.length > longestAgent ? null : name;
}

/** A response has no provider data: a model’s reasoning stands there, which only its provider reads. */
export function withoutProviderData(step: AgentStep): AgentStep {
  return step.providerData === null ? step : { ...step, providerData: null };
}
