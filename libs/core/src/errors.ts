/**
 * Everything that can go wrong, as closed lists. A refusal is a value: the model or the caller reads it and goes on.
 * A fault is an exception: the bus retries it or puts the record among the dead letters.
 * docs/errors.md is held equal to these tables by a test.
 */

interface ErrorEntry {
  readonly meaning: string;
  readonly remedy: string;
  readonly retryable: boolean;
}

/** Why a tool call gave no result. The codes are the documents' own and stay closed. */
export const toolErrors = {
  unavailable: {
    meaning: 'The tool is not known, not enabled, or what it needs cannot be reached.',
    remedy: 'Check the name against the offered tools; if it is one of them, try again later.',
    retryable: true,
  },
  policy_denied: {
    meaning:
      'The tool is not eligible for these groups in this state, the policy does not allow it, or the run has no call left for it.',
    remedy: 'Use one of the offered tools, or have the policy, the limits, or the tool’s groups and states, changed.',
    retryable: false,
  },
  authz_denied: {
    meaning: 'The caller is not permitted to use this tool or these groups.',
    remedy: 'Ask for fewer groups, or have the permission granted.',
    retryable: false,
  },
  validation: {
    meaning: 'The arguments do not fit the tool’s input schema, or its result does not fit the declared output.',
    remedy: 'Correct the named arguments and call again; a result that does not fit is for the tool’s author to fix.',
    retryable: false,
  },
  execution: {
    meaning: 'The tool was run and failed.',
    remedy: 'Read the message; change the arguments or use another tool.',
    retryable: false,
  },
  redaction_failed: {
    meaning: 'The result could not be redacted, so nothing of it was passed on.',
    remedy: 'Give the tool a redaction that names the fields that may leave it.',
    retryable: false,
  },
  invalid_json: {
    meaning: 'The arguments are not JSON.',
    remedy: 'Send the arguments as one JSON object.',
    retryable: false,
  },
} as const satisfies Record<string, ErrorEntry>;

export type ToolErrorCode = keyof typeof toolErrors;

/**
 * Where a call's refusal comes from. `decided`: from the configuration and what is recorded, so replay derives it
 * again, and where it does not, that is a difference. `asked`: from what was asked outside, such as an authorizer, a
 * broker or a limit that the ledger counts. `tool`: from the tool's run or its result.
 */
type ReasonStage = 'decided' | 'asked' | 'tool';

interface ReasonEntry {
  readonly stage: ReasonStage;
  readonly meaning: string;
  /** Where it tells why a tool is not in its caller’s list: clients that see the list alone do not read it. */
  readonly isKeptBack?: true;
  /** Its message says all that there is to say: what was refused, by which rule, and what to change. */
  readonly saysAll?: true;
}

/** The finer reason beside a tool error's code, where there is one. */
export const toolErrorReasons = {
  unknown_tool: { stage: 'decided', meaning: 'No tool has this name.' },
  not_bound: { stage: 'asked', meaning: 'The tool is configured, but its implementation or server is not there.' },
  held_back: {
    stage: 'asked',
    meaning:
      'The server changed the tool’s description or schema since it was allowed; compile the configuration again.',
  },
  not_eligible_group: { stage: 'decided', isKeptBack: true, meaning: 'The tool is in none of the requested groups.' },
  not_eligible_state: { stage: 'decided', meaning: 'The tool is not available in the current state.' },
  not_allowed: { stage: 'decided', isKeptBack: true, meaning: 'The policy does not allow the tool.' },
  approval_refused: { stage: 'decided', saysAll: true, meaning: 'An approver refused the call.' },
  approval_expired: { stage: 'decided', saysAll: true, meaning: 'The call was not approved in time.' },
  no_approver: {
    stage: 'decided',
    isKeptBack: true,
    meaning: 'The call needs an approval, and policy.approval names no one who can give it.',
  },
  closed_by_context: {
    stage: 'decided',
    isKeptBack: true,
    meaning: 'A rule closes the tool for requests such as this one.',
  },
  closed_by_time: { stage: 'decided', isKeptBack: true, meaning: 'A rule closes the tool at this time.' },
  closed_by_load: {
    stage: 'decided',
    isKeptBack: true,
    meaning: 'A rule closes the tool under the load that was measured for this turn.',
  },
  closed_by_history: {
    stage: 'decided',
    isKeptBack: true,
    meaning: 'A rule closes the tool after what the run did so far, or before what it has yet to do.',
  },
  arguments_out_of_bounds: {
    stage: 'decided',
    saysAll: true,
    meaning:
      'An argument is out of the bounds that a rule, the tool’s entry or the agent’s sets; the message names both.',
  },
  total_used: {
    stage: 'decided',
    saysAll: true,
    meaning: 'The call would pass what a rule lets calls add up to within a span; the message says what is left.',
  },
  nested_agent: {
    stage: 'decided',
    isKeptBack: true,
    meaning: 'The tool is an agent, and the run is itself as deep within agents’ calls as `policy.agent_depth` allows.',
  },
  agent_groups: { stage: 'decided', meaning: 'The agent works with groups that the caller may not ask for.' },
  agent_failed: { stage: 'tool', meaning: 'The agent ended without an answer; the message says why.' },
  agent_budget_used: {
    stage: 'tool',
    meaning: 'The agent used up its iterations, its time, its tokens or its money before it had an answer.',
  },
  budget_used: {
    stage: 'decided',
    isKeptBack: true,
    meaning:
      'The run has made all the calls that policy.budgets allows it, or an agent’s turn may use more than is left of its tokens or money.',
  },
  none_chosen: { stage: 'decided', meaning: 'The request’s tool_choice is `none`: no tool is called in its run.' },
  plan_refused: {
    stage: 'decided',
    meaning: 'The plan cannot be walked: the message names the step and why. Nothing of it ran.',
  },
  not_planned: {
    stage: 'decided',
    meaning: 'The run works by a plan, and the call is not the next step of it.',
  },
  run_completed: { stage: 'decided', meaning: 'A call before it in its turn ended the run.' },
  rate_limited: {
    stage: 'asked',
    meaning:
      'The tenant has made all the calls that policy.budgets allows in a minute; the message says when to try again.',
  },
  too_many_runs: {
    stage: 'asked',
    meaning: 'The tenant has as many open runs as limits.open_runs permits, so the call of an MCP client began none.',
  },
  not_permitted: {
    stage: 'decided',
    isKeptBack: true,
    meaning: 'The authorizer does not let the caller use the tool or the connection.',
  },
  not_delegated: {
    stage: 'decided',
    isKeptBack: true,
    meaning: 'The caller may not act for this subject with the tool or the connection.',
  },
  authorizer_unreachable: {
    stage: 'asked',
    meaning: 'Whether the caller is permitted could not be found out, so the call was not made.',
  },
  too_many_calls: {
    stage: 'decided',
    meaning: 'The turn made more calls than limits.calls_per_turn allows; those beyond it are not made.',
  },
  record_full: {
    stage: 'decided',
    meaning:
      'The run’s record has no room left for the call and the largest result that it may have, so it was not made.',
  },
  arguments_too_large: {
    stage: 'decided',
    meaning: 'The arguments are larger than the limit (8,192 bytes unless configured).',
  },
  result_too_large: {
    stage: 'tool',
    meaning:
      'The result is larger than content may be (10,000,000 bytes unless configured), or the content store did not take it; what the call did stands.',
  },
  timeout: { stage: 'tool', meaning: 'The tool did not end within its time limit.' },
  cancelled: { stage: 'tool', meaning: 'The caller cancelled the call before it ended.' },
  user_error: {
    stage: 'tool',
    meaning: 'The tool or its server gave the reason: the message is its own.',
  },
  outcome_unknown: {
    stage: 'tool',
    meaning: 'An earlier attempt began and its end is not known; it was not repeated.',
  },
  service_lost: {
    stage: 'tool',
    meaning: 'Each attempt at the call ended with the service that made it, so it is not made again.',
  },
  no_effect: {
    stage: 'tool',
    meaning: 'The call did not come to its end, and the tool says that it took no effect.',
  },
  documentation_unread: {
    stage: 'decided',
    meaning: 'The tool’s page has to be read before its first call, and was not: the message says which file.',
  },
  grant_invalid: { stage: 'decided', isKeptBack: true, meaning: 'The call is outside the grant of its turn.' },
  connection_missing: {
    stage: 'asked',
    isKeptBack: true,
    meaning: 'The tool needs a connection and none is configured.',
  },
  connection_not_allowed: {
    stage: 'decided',
    isKeptBack: true,
    meaning: 'The tool’s connection is not among those that grant, request and configuration all allow.',
  },
  connection_denied: {
    stage: 'asked',
    meaning: 'The connection’s broker gives this caller no credential, or the API does not permit the call with it.',
  },
  connection_unreachable: {
    stage: 'asked',
    meaning: 'The connection’s credential cannot be had now, or is not accepted.',
  },
  output_invalid: { stage: 'tool', meaning: 'The tool’s result does not have the declared shape.' },
  deadline: { stage: 'decided', meaning: 'The run’s deadline had passed before the call began.' },
} as const satisfies Record<string, ReasonEntry>;

export type ToolErrorReason = keyof typeof toolErrorReasons;

/** Whether a refusal for this reason tells why its tool is not in the caller’s list. */
export function isKeptBack(reason: string | null): boolean {
  return reason !== null && entryOf<ReasonEntry>(toolErrorReasons, reason)?.isKeptBack === true;
}

/** Whether the message of a call that was refused for this reason says what to do, so nothing is added to it. */
export function saysAll(reason: string | null): boolean {
  return reason !== null && entryOf<ReasonEntry>(toolErrorReasons, reason)?.saysAll === true;
}

/** Whether a recorded reason is one that replay derives again; false for a reason of a later version. */
export function isDecidedReason(reason: string | null): boolean {
  return reason !== null && entryOf<ReasonEntry>(toolErrorReasons, reason)?.stage === 'decided';
}

interface RunErrorEntry extends ErrorEntry {
  /**
   * Whether the filter ends runs with it: what it decides from a request, its run and the configuration, another
   * configuration may decide otherwise.
   */
  readonly byFilter: boolean;
  /** Whether a budget was used up: iterations, time, tokens or money. */
  readonly isBudget: boolean;
  /** Whether a dead letter may end a run with it; a run may end so in other ways, too. */
  readonly byDeadLetter: boolean;
}

/** Why a run ended without an answer: the `error.code` of an AgentResponse. */
export const runErrors = {
  invalid_request: {
    meaning:
      'The AgentRequest cannot be decoded, lacks its question, has wrong types or an id that is too long, or its tool_choice or its strategy cannot be had.',
    remedy: 'Correct the fields that the message names and send it again under a new request_id.',
    retryable: false,
    byFilter: true,
    isBudget: false,
    byDeadLetter: true,
  },
  authz_denied: {
    meaning: 'The credential is missing or not valid, or the caller is not permitted the requested groups.',
    remedy:
      'Have the permission granted, or ask for permitted groups, and send it with a valid credential under a new request_id.',
    retryable: false,
    byFilter: true,
    isBudget: false,
    byDeadLetter: false,
  },
  max_iterations: {
    meaning: 'The run used up its iterations without an answer.',
    remedy:
      'Ask a narrower question, or raise limits.max_iterations and what the request says of it, and send it under a new request_id.',
    retryable: false,
    byFilter: true,
    isBudget: true,
    byDeadLetter: false,
  },
  deadline_exceeded: {
    meaning: 'The run’s time was up before there was an answer.',
    remedy:
      'Send it again under a new request_id, with a later deadline if it named one, or raise limits.run_seconds first.',
    retryable: true,
    byFilter: true,
    isBudget: true,
    byDeadLetter: false,
  },
  size_exceeded: {
    meaning: 'The history or the next record would be larger than the budget.',
    remedy: 'Send less history under a new request_id, or have the tools return less first.',
    retryable: false,
    byFilter: true,
    isBudget: false,
    byDeadLetter: true,
  },
  budget_exceeded: {
    meaning: 'An agent’s run used the tokens or the money that its tool gives it, without an answer.',
    remedy: 'Ask the agent something narrower, or raise tokens or usd under the tool’s agent.',
    retryable: false,
    byFilter: true,
    isBudget: true,
    byDeadLetter: false,
  },
  span_budget_exceeded: {
    meaning: 'A budget of tokens or money per user, tenant or agent had no room for the next model call.',
    remedy:
      'Send it again under a new request_id when the budget has room again: the message says when. Or raise it under policy.budgets.spans.',
    retryable: true,
    byFilter: false,
    isBudget: true,
    byDeadLetter: false,
  },
  cancelled: {
    meaning: 'The caller cancelled the run before it had an answer.',
    remedy: 'Send the request under a new request_id if it is wanted after all.',
    retryable: false,
    byFilter: false,
    isBudget: false,
    byDeadLetter: false,
  },
  model_failed: {
    meaning: 'The model gave no usable turn.',
    remedy:
      'See the service’s log and correct the model’s settings or its key; then send it again under a new request_id, or an operator re-drives it with `sluice dead-letters redrive`.',
    retryable: true,
    byFilter: false,
    isBudget: false,
    byDeadLetter: true,
  },
  answer_invalid: {
    meaning: 'No answer of the model fits the answer schema, although it was asked again with the faults.',
    remedy:
      'Read the faults in the message: give a schema that is easier to fit, say more in the instructions, or ask another model, and send it under a new request_id.',
    retryable: true,
    byFilter: false,
    isBudget: false,
    byDeadLetter: false,
  },
  record_quarantined: {
    meaning:
      'A record of this run was not accepted as its own and is quarantined, and no other took its place until the run’s time was up.',
    remedy:
      'Look at it with `sluice dead-letters show`: if it is not forged, services have different keys or versions; then send the request under a new request_id.',
    retryable: false,
    byFilter: false,
    isBudget: false,
    byDeadLetter: false,
  },
  dead_lettered: {
    meaning: 'A record of this run could not be processed and is among the dead letters.',
    remedy:
      'See the reason with `sluice dead-letters show` and fix it; then an operator re-drives the record with `sluice dead-letters redrive`, or send the request under a new request_id.',
    retryable: false,
    byFilter: false,
    isBudget: false,
    byDeadLetter: true,
  },
} as const satisfies Record<string, RunErrorEntry>;

export type RunErrorCode = keyof typeof runErrors;

/** What is known of a recorded code; undefined for one of a later version. */
export function runErrorOf(code: string): RunErrorEntry | undefined {
  return entryOf<RunErrorEntry>(runErrors, code);
}

function entryOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Why a record could not be processed: thrown by handlers, read by the bus. */
export const faultCodes = {
  undecodable:
    'The payload is neither Avro of a known schema nor JSON of the topic’s shape, or its batch cannot be decompressed.',
  invalid_request: 'The record was decoded, but cannot be what it says.',
  unknown_configuration: 'The record names a configuration version that is not here yet, or cannot be read here.',
  identity_unreachable: 'The keys that credentials are verified with, or the permissions of a caller, cannot be had.',
  grant_invalid: 'The record carries no grant that the filter signed for this turn.',
  continuation_invalid: 'The executor did not sign this continuation, or it was altered since.',
  signature_invalid: 'The service that writes the topic did not sign the record as it stands there.',
  groups_widened: 'A continuation asks for more groups than its run has.',
  state_altered: 'A continuation has another state than the one recorded last.',
  replayed: 'The turn was taken already; a record of it came again.',
  schema_invalid: 'A tool of the Toolset has an input schema that is no JSON object, so no model can be asked.',
  model_unreachable: 'The model’s endpoint did not answer, asked to wait, or ended its turn with an error.',
  model_refused: 'The model’s endpoint refused the request for good, or gave a turn that cannot be used.',
  ledger_unreachable: 'The ledger did not answer.',
  content_unreachable: 'The content store did not answer, or took no writes.',
  content_corrupt: 'Stored content is not what was written.',
  receiver_unreachable:
    'The receiver of a webhook did not take it, or it could not be sent; it is tried again for a while.',
  receiver_gone: 'The receiver of a webhook answered 410: it takes none any more.',
  output_too_large: 'The record’s output is larger than a record may be.',
  storage: 'The log could not be written or read.',
  retries_exhausted: 'It was retried until the limit and never worked.',
  unexpected: 'The handler failed unexpectedly.',
} as const satisfies Record<string, string>;

export type FaultCode = keyof typeof faultCodes;

/** Why a request over HTTP gets nothing: the `code` of the gateway’s refusals. */
export const httpErrors = {
  invalid_request: {
    meaning: 'The request over HTTP cannot be read, or asks for what there cannot be.',
    remedy: 'Change what the message names and send it again.',
    retryable: false,
  },
  too_large: {
    meaning: 'The body, or the record that it would become, is too large.',
    remedy: 'Send less, such as a shorter history.',
    retryable: false,
  },
  authz_denied: {
    meaning: 'The credential is missing or does not hold, or its holder may not ask here.',
    remedy: 'Send a valid credential, and leave out what the message names.',
    retryable: false,
  },
  insufficient_permissions: {
    meaning: 'The caller may not ask for these tool groups.',
    remedy: 'Ask for permitted groups, or have the permission granted.',
    retryable: false,
  },
  not_found: {
    meaning: 'There is no such route, run, group or dead letter for this caller.',
    remedy: 'Look at the address and at the ids in it.',
    retryable: false,
  },
  conflict: {
    meaning:
      'The request_id was taken before, or the dead letter cannot be re-driven, or the candidate not be applied.',
    remedy:
      'Read that run, or send the request under a new request_id. Of a dead letter and a candidate the message says why.',
    retryable: false,
  },
  invalid_configuration: {
    meaning: 'The text of a candidate for a configuration has mistakes; `problems` says where.',
    remedy: 'Change what `problems` names, and check it with POST /v1/configurations/check.',
    retryable: false,
  },
  decision_not_taken: {
    meaning: 'The decision on an approval cannot count; `not_taken` says why.',
    remedy: 'Do what the message says; docs/approvals.md lists the reasons.',
    retryable: false,
  },
  rate_limited: {
    meaning: 'The caller has made all the requests that it may make in a minute.',
    remedy: 'Come back when `retry-after` says.',
    retryable: true,
  },
  too_many_runs: {
    meaning: 'The tenant has as many open runs as limits.open_runs permits, so no other one is begun.',
    remedy: 'Come back when a run of the tenant has ended, or have limits.open_runs raised.',
    retryable: true,
  },
  busy: {
    meaning: 'The gateway has as much to do as it takes on, or keeps no lists.',
    remedy: 'Come back when `retry-after` says, or ask another instance.',
    retryable: true,
  },
  identity_unreachable: {
    meaning: 'The keys that credentials are verified with, or the permissions of a caller, cannot be had.',
    remedy: 'Come back when `retry-after` says.',
    retryable: true,
  },
  unknown_configuration: {
    meaning: 'The configuration is not here yet.',
    remedy: 'Come back when `retry-after` says.',
    retryable: true,
  },
  ledger_unreachable: {
    meaning: 'The ledger did not answer.',
    remedy: 'Come back when `retry-after` says.',
    retryable: true,
  },
  storage: {
    meaning: 'The log could not be written or read.',
    remedy: 'Come back when `retry-after` says.',
    retryable: true,
  },
  internal: {
    meaning: 'The gateway failed, or something stands in its way that only its operator can fix.',
    remedy: 'See the gateway’s log.',
    retryable: false,
  },
} as const satisfies Record<string, ErrorEntry>;

export type HttpErrorCode = keyof typeof httpErrors;

/**
 * Security events: a forged record, which does not belong to the run it names, is put aside, and the honest run goes
 * on.
 */
export const securityFaults = [
  'grant_invalid',
  'continuation_invalid',
  'signature_invalid',
  'groups_widened',
  'state_altered',
  'replayed',
] as const satisfies readonly FaultCode[];

export type SecurityFault = (typeof securityFaults)[number];

export function isSecurityFault(code: string): code is SecurityFault {
  return securityFaults.some((fault) => fault === code);
}

/**
 * A fault: the record is retried with back-off if `retryable`, else it goes to the dead letters with its code and
 * message.
 */
export class Fault extends Error {
  override readonly name = 'Fault';
  /**
   * Until when it is worth retrying, however often, milliseconds since the epoch; null: as often as the bus retries
   * anything.
   */
  readonly until: number | null;
  /** What went wrong in a few words that callers may read: nothing of where a system is. Null where there are none. */
  readonly brief: string | null;
  constructor(
    readonly code: FaultCode,
    message: string,
    readonly retryable: boolean,
    options?: { cause?: unknown; until?: number; brief?: string },
  ) {
    super(message, options);
    this.until = options?.until ?? null;
    this.brief = options?.brief ?? null;
  }
}
