export {
  Fault,
  faultCodes,
  httpErrors,
  isDecidedReason,
  isKeptBack,
  saysAll,
  isSecurityFault,
  runErrorOf,
  runErrors,
  securityFaults,
  toolErrorReasons,
  toolErrors,
} from './errors.js';
export type {
  FaultCode,
  HttpErrorCode,
  RunErrorCode,
  SecurityFault,
  ToolErrorCode,
  ToolErrorReason,
} from './errors.js';
export type { CheckResult } from './check-result.js';
export { durationMs } from './duration.js';
export { hasRawNumbers, inexactNumbers, mayHoldRawNumbers, parseExactJson, withPlainNumbers } from './exact-json.js';
export { canonicalJson, equalJson, isJsonObject, isJsonText, isRawNumber, utf8Length } from './json.js';
export type { Digest, JsonObject, JsonValue } from './json.js';
export { LineBuffer } from './line-buffer.js';
export { deepestJson, isDeeperThan, jsonBytes, JsonTooLargeError, NotJsonError, plainJson } from './plain-json.js';
export { addressesModel, textModeByDefault, textModes, hiddenIn, withoutHidden } from './foreign-text.js';
export type { TextMode } from './foreign-text.js';
export { expandedSize } from './patterns/expanded-size.js';
export { largestProgram, linearPattern, longestPattern } from './patterns/linear-pattern.js';
export type { LinearPattern } from './patterns/linear-pattern.js';
export { printable, printableIn } from './printable.js';
export { logNames, quote, sentenceList } from './quote.js';
export { causeOf, neverSent } from './reachability.js';
export { repeatedName } from './repeated-name.js';
export { nearest, nearMiss, suggestion } from './suggest.js';
export { claimMemoryMs, clockSkewMs, lateRecordMs } from './time-limits.js';
export { WeakMemory } from './weak-memory.js';
export { cut, wellFormed, wellFormedJson } from './well-formed.js';
export { isAnswerable } from './approval/answerable.js';
export {
  allApprovers,
  approvalsMissing,
  approverKinds,
  approversAt,
  deciderBy,
  deciderFor,
  decisionsOpenTo,
  countsFor,
  isAnyApprover,
  isApprovalOf,
  isRejectionReason,
  judgeDecision,
  keyOfRule,
  mayDecideFor,
  onExpiryOf,
  personKind,
  rejectionReasons,
  rulesInForce,
  serviceKind,
  stillNeeded,
} from './approval/decision.js';
export type {
  ApprovalDecision,
  AskingRule,
  RequestedApproval,
  Decider,
  DecisionPolicy,
  GivenApproval,
  RejectionReason,
  WrittenDecision,
} from './approval/decision.js';
export { editNote, observedText, withOwnSecrets } from './approval/edited-arguments.js';
export { mayReadCalls } from './approval/may-read.js';
export { isSamePerson } from './approval/person.js';
export {
  approvable,
  approvalAsks,
  changingEffects,
  needsApproval,
  runsWithoutApproval,
} from './approval/needs-approval.js';
export type { ApprovalAsk } from './approval/needs-approval.js';
export {
  entriesOfDecider,
  isStandingRejection,
  judgeStanding,
  mostStanding,
  mostStandingCalls,
  standingFact,
  standingFor,
  standingRejections,
} from './approval/standing.js';
export type { GivenStanding, StandingApproval, StandingRejection } from './approval/standing.js';
export { redactArguments } from './approval/redact-arguments.js';
export { asWritten, shownArguments } from './approval/shown-arguments.js';
export type { ShownArguments } from './approval/shown-arguments.js';
export { mostConditions } from './availability/availability.js';
export { ruleInWords } from './availability/in-words.js';
export { knownLanguages } from './availability/language.js';
export { heldAfter, spentBy } from './availability/load.js';
export { claimsOf, claimValues, measuresOf } from './availability/measures.js';
export { isTimeZone } from './availability/time.js';
export { channels, defaultAgent, loadMeasures } from './availability/types.js';
export type {
  AvailabilityRule,
  ContextCondition,
  HistoryCondition,
  LoadCondition,
  RuleFacts,
  TimeCondition,
  Whom,
} from './availability/types.js';
export { outOfBoundsMessage } from './bounds/argument-rules.js';
export type { JudgedCall } from './bounds/argument-rules.js';
export { compileBounds, isElsewhere, lookupFact, outOfBounds } from './bounds/compile-bounds.js';
export type { Lookup, LookupAnswer } from './bounds/compile-bounds.js';
export { boundsInWords } from './bounds/in-words.js';
export type { BoundInWords } from './bounds/in-words.js';
export { isPlaceholder, listAddress, placeholdersIn } from './bounds/list-address.js';
export type { ListCaller } from './bounds/list-address.js';
export { partsOfPath, valuesAt } from './bounds/values-at.js';
export type { ArgumentBound, ArgumentBounds, ListLookup, ListSettings, Lists, ValueSource } from './bounds/types.js';
export { amountFrom, amountOf, decimalOf, largestAmount, oneAmount } from './past/amounts.js';
export { countsOthers, neededPastOf, pastFactName, pastFactText } from './past/facts.js';
export type { NeededPast } from './past/facts.js';
export { budgetStates, modelReservation, modelUse, spanBudgetEnd, spanBudgetInWords } from './past/model-budgets.js';
export { foreseen, together, uncountableMessage } from './past/reservation.js';
export type { CountedSpan, SpanLimit } from './past/spans.js';
export type { BeginningCall, Reservation } from './past/reservation.js';
export { pastOutcomeOf, reserve } from './past/reserve.js';
export type { CountedCall } from './past/reserve.js';
export { itemOf, scopeOf } from './past/scope.js';
export { historySpans, pastScopes, totalScopes } from './past/types.js';
export type { PastCaller, PastSpan, TotalLimit } from './past/types.js';
export { approaches, describedBy } from './descriptions/approaches.js';
export type { Approach } from './descriptions/approaches.js';
export {
  argumentOf,
  bindTools,
  docsFolder,
  fullTools,
  loadedTools,
  neededTools,
  readingNote,
  unloadedGroups,
} from './descriptions/bind-tools.js';
export type { BindingFacts, BoundTools } from './descriptions/bind-tools.js';
export { documentedTools } from './descriptions/documented-tools.js';
export { exampleIn, sampleOf } from './descriptions/example-call.js';
export { firstSentence } from './descriptions/first-sentence.js';
export { searchesIn } from './descriptions/found-tools.js';
export type { StepSearch } from './descriptions/found-tools.js';
export { docsName, docsPath, toolDocs, toolIndex, toolPage } from './descriptions/tool-page.js';
export {
  alwaysFullTypes,
  deferredSchemas,
  descriptionModes,
  loadToolsetType,
  readFileType,
  searchToolsType,
} from './descriptions/types.js';
export type { DescriptionMode, DescriptionSettings } from './descriptions/types.js';
export { requestFieldsOfAudit } from './generated/request-views.js';
export { claimAt, readPrincipal } from './identity/claims.js';
export { isOperator } from './identity/operator.js';
export { noGroupsReasons, whyNoGroups } from './identity/without-groups.js';
export { agentRefused, agentsFor, isAmong, mayCancelRunsOf } from './identity/agent-callers.js';
export { insufficientPermissions, mayRequest, notPermitted, refusedGroupsSentence } from './identity/permission.js';
export type { RequestVerdict } from './identity/permission.js';
export { localPrincipal, principalKinds } from './identity/principal.js';
export type { Principal } from './identity/principal.js';
export { groupsOf } from './identity/roles.js';
export { checkContexts } from './settings/authorization-types.js';
export { withSchemaDefaults } from './bounds/schema-defaults.js';
export { authorizationActions } from './ports/authorization.js';
export type {
  AuthorizationAction,
  AuthorizationAnswer,
  AuthorizationContext,
  AuthorizationPort,
  AuthorizationResource,
  CedarProblem,
} from './ports/authorization.js';
export type { Clock } from './ports/clock.js';
export type { ConnectionAnswer, ConnectionBroker, ConnectionUse, Credential } from './ports/connections.js';
export { ContentTooLargeError } from './ports/content.js';
export type {
  ContentName,
  ContentOwner,
  ContentRef,
  WrittenContent,
  ContentStore,
  OpenContent,
  StoredContent,
  Swept,
} from './ports/content.js';
export type { CountedDocuments, Documents, StoredDocument } from './ports/documents.js';
export type { Authentication, Authenticator } from './ports/identity.js';
export type { Claim, ClaimRequest, Durability, Ledger } from './ports/ledger.js';
export { conversationRoles, halfWritten, largestProviderData, tokenSum } from './ports/model.js';
export type {
  EarlierRun,
  Embedder,
  GivenContent,
  Model,
  ModelCall,
  ModelOptions,
  ModelRequest,
  ModelStep,
  ModelTool,
  ModelTurn,
  RawPart,
  SearchedTools,
  TurnTokens,
} from './ports/model.js';
export type { FoundPermissions, PermissionQuestion, PermissionSource } from './ports/permissions.js';
export type {
  CountedItem,
  PastAnswer,
  PastCalls,
  PastCount,
  PastLimit,
  PastOutcome,
  PastRequest,
} from './ports/past-calls.js';
export type { RateAnswer, RateLimiter, RateRequest } from './ports/rate-limiter.js';
export { signers } from './ports/signatures.js';
export type { Signatures, SignerRole, Verifier } from './ports/signatures.js';
export { budgetOf, noBudget } from './rules/budget-of.js';
export { budgetUsed, countCall } from './rules/budget-used.js';
export { noCalls } from './rules/call-counts.js';
export type { CallCounts } from './rules/call-counts.js';
export { allowedConnections, connectionIdForm, effectiveConnections } from './rules/connections.js';
export { bearerAt, requireNamed } from './rules/credential-hosts.js';
export { defaultGroup, normaliseGroups, normaliseState, undefinedState, wildcard } from './rules/defaults.js';
export { agentName, hasAgent, knownAgents, longestAgent } from './rules/agent-name.js';
export type { AgentChoice } from './rules/agent-name.js';
export {
  clientToolGroup,
  clientToolId,
  clientToolPrefix,
  clientToolsIn,
  isClientTool,
  isConfiguredName,
  takesClientTool,
} from './rules/client-tools.js';
export type { ClientTool } from './rules/client-tools.js';
export { commonConfiguration, evaluatorFor } from './rules/agent-view.js';
export { compileEvaluator } from './rules/evaluate.js';
export { groupsForAgent } from './rules/shared-groups.js';
export type { Decision, Evaluator, Facts } from './rules/evaluate.js';
export { explain } from './rules/explain.js';
export { isWithin, noGroupTree, pathOf, withGroupsBelow } from './rules/group-tree.js';
export type { GroupTree } from './rules/group-tree.js';
export { hiddenReasons, hiddenReasonTexts, refusalOfHidden } from './rules/hidden-reasons.js';
export type { HiddenReason } from './rules/hidden-reasons.js';
export { listGroups, listStates, stateDiagram } from './rules/listing.js';
export type { KnownFacts, ListedGroup, ListedState, ListedTool } from './rules/listing.js';
export { matchesPattern } from './rules/matches-pattern.js';
export { asksFor, dependsOn, ruleFactNames, withoutFacts } from './rules/partly-known.js';
export type { Unknown } from './rules/partly-known.js';
export { requestWarnings } from './rules/request-warnings.js';
export type { RequestWarning } from './rules/request-warnings.js';
export { atToolIndexes, toolIndexCount, toToolIndexes } from './rules/tool-indexes.js';
export { compileRules } from './rules/rules.js';
export type { RuleTool } from './rules/rules.js';
export { chooseTools, isAsChosen, toolChoiceOf } from './rules/tool-choice.js';
export type { ToolChoice } from './rules/tool-choice.js';
export { compilePolicy, isListed, mayCallAgents } from './rules/tool-policy.js';
export type { ToolPolicyDecision } from './rules/tool-policy.js';
export { transition } from './rules/transition.js';
export { whatOpens } from './rules/what-opens.js';
export { toolVerdicts } from './rules/verdicts.js';
export {
  agentBegunBy,
  budgetEnd,
  bytesPerToken,
  callsAround,
  depthOf,
  runBudgetEnd,
  runBudgetLeft,
} from './run/agent-run.js';
export type { RunBudget, RunEnd } from './run/agent-run.js';
export { costOf, runCost, sumOfOthers } from './run/cost.js';
export { briefAnswer } from './run/brief-answer.js';
export { endsRun } from './run/completion.js';
export { finishReasonOf, whyIncomplete } from './run/incomplete.js';
export { memoryBytes, recalled, withRun } from './run/memory.js';
export type { RememberedRun } from './run/memory.js';
export { promptHash } from './run/prompt-hash.js';
export { requestLog, requestLogLine } from './run/request-log.js';
export { fieldsThere, requestOfTool } from './run/request-views.js';
export {
  afterSteps,
  afterWait,
  anotherAttempt,
  beginRun,
  defaultParkedMs,
  dwellTimes,
  historyBytes,
  nextIteration,
  runEnd,
} from './run/run-state.js';
export type { RunConditions, RunLimits, RunState } from './run/run-state.js';
export { runName, sessionName, userOf } from './run/scope.js';
export type { Tenant } from './run/scope.js';
export type { AgentRun, OtherModels, ParentCall, Step, StepContent, StepQuestion } from './run/step.js';
export { confidenceRanges, defaultConfidence } from './settings/confidence.js';
export {
  choosingStrategies,
  discoveryStrategies,
  discoveryStrategy,
  embeddingProviders,
  nativeSearchKinds,
  nativeSearchModes,
  triableStrategies,
} from './settings/discovery-types.js';
export type {
  AgentDiscovery,
  ChoosingStrategy,
  DiscoveryPipe,
  DiscoverySettings,
  DiscoveryStrategy,
  EmbeddingSettings,
  NativeSearchKind,
  NativeSearchSettings,
  Pipes,
  SelectorSettings,
  TriableStrategy,
} from './settings/discovery-types.js';
export { modelName, modelsFor, modelsOf } from './settings/models.js';
export { isIcon, pinOf } from './settings/offer.js';
export type { McpOffer, OfferedText, OfferedTool, ToolIcon } from './settings/offer.js';
export { proxyApis, unknownToolChoices } from './settings/proxy-types.js';
export type { ProxyApi, ProxyModel, ProxySettings, UnknownTools, UpstreamSettings } from './settings/proxy-types.js';
export { largestMessage, largestRecord, largestThought } from './settings/record-sizes.js';
export {
  reasoningEfforts,
  sampledSettings,
  samplingLimits,
  samplingProblem,
  takesSampling,
} from './settings/sampling.js';
export type { Sampling } from './settings/sampling.js';
export { isConfidence, isPlanned } from './settings/strategies.js';
export { agentToolType, isServerTool, mcpToolType, openApiToolType, planToolType } from './settings/tool-types.js';
export { onErrorChoices, strategyNames } from './settings/agent-types.js';
export { connectionAdapters } from './settings/connection-types.js';
export { identityProviders } from './settings/identity-types.js';
export { contentKinds, passedOnKinds } from './settings/mcp-types.js';
export type {
  CredentialIn,
  HttpBody,
  HttpOperation,
  HttpParameter,
  OpenApiSettings,
  ParameterIn,
  ParameterStyle,
} from './settings/openapi-types.js';
export { inputsOf } from './settings/model-inputs.js';
export type { ModelMediaType } from './settings/model-inputs.js';
export { modelProviderEntries, modelProviderEntry, modelProviders } from './settings/model-providers.js';
export type { CountingProvider, ModelProvider, ProviderSetting, WireName } from './settings/model-providers.js';
export { webSearchProviders } from './settings/pack-types.js';
export type { AgentSettings, ConfidenceSettings, PlanSettings, StrategyName } from './settings/agent-types.js';
export type { ArgumentObject, AuthorizationSettings, Delegation, Permission } from './settings/authorization-types.js';
export type { Configuration, GroupFallbacks, MonitoringSettings } from './settings/configuration.js';
export type { ConfiguredTool, ToolFile, ToolNetwork, ToolType } from './settings/configured-tool.js';
export type { ConnectionSettings } from './settings/connection-types.js';
export type {
  ClaimNames,
  ConsoleClient,
  IdentitySettings,
  JwtSettings,
  Operators,
  PermissionSettings,
  PermissionSourceSettings,
} from './settings/identity-types.js';
export type {
  ContentKind,
  McpRoot,
  McpSampling,
  McpToolRef,
  McpServer,
  PassedOnKind,
  PassedOnList,
} from './settings/mcp-types.js';
export { modelInputs } from './settings/model-types.js';
export type { AgentLimits, Callers, NamedAgent, NamedAgents, StrategySettings } from './settings/named-agent.js';
export type { ModelPrice, ModelSettings } from './settings/model-types.js';
export {
  approvalTexts,
  includedTexts,
  notificationEvents,
  receiversOf,
  secretVariables,
  subscriptionsDocument,
} from './settings/notify-types.js';
export type {
  IncludedText,
  MailReceiver,
  NotificationEvent,
  NotifyFilter,
  NotifyReceiver,
  NotifySettings,
  NotifySubscription,
  SlackChannel,
} from './settings/notify-types.js';
export { hookSchemes } from './settings/hook-types.js';
export type { HookScheme, HookSettings } from './settings/hook-types.js';
export { catchUps, overlaps } from './settings/schedule-types.js';
export type { OwnRequest, ScheduleSettings } from './settings/schedule-types.js';
export type {
  DocumentSettings,
  GraphSettings,
  KnowledgeSettings,
  Neo4jSettings,
  WebSearchSettings,
  WebSettings,
} from './settings/pack-types.js';
export { budgetScopes } from './settings/policy-types.js';
export type {
  ApprovalRule,
  Budgets,
  Limits,
  OnExpiry,
  Policy,
  SpanBudget,
  ToolBudget,
} from './settings/policy-types.js';
export type { Finding, Problem, UnknownName } from './settings/problem.js';
export { programVersion } from './program-version.js';
export { isVersionOf, versionOf, versionOfDigest } from './settings/version.js';
export { allowed, eligible } from './tool/admission.js';
export type { CallFacts, Judges } from './tool/admission.js';
export { authorize, recordedDenial } from './tool/authorize.js';
export { logLevels, NoticeGate } from './tool/call-notice.js';
export type { CallNotice, LogLevel } from './tool/call-notice.js';
export { mayRun } from './tool/may-run.js';
export { begunBefore, effectOnce } from './tool/effect-once.js';
export type { EffectClaims } from './tool/effect-once.js';
export { faultText, ToolFault } from './tool/fault.js';
export { takeBack } from './tool/finish.js';
export type { HandedBack } from './tool/finish.js';
export { invocationRecord } from './tool/invocation-record.js';
export type { CallTimes, ToolInvocationRecord } from './tool/invocation-record.js';
export type {
  BegunBefore,
  CachedOutput,
  CallEnd,
  Reconciliation,
  ToolInvocation,
  ToolLimits,
  ToolPipeline,
  Verdict,
} from './tool/pipeline.js';
export { withinRate, withinServerRate } from './tool/rate-limit.js';
export type { RateCounting } from './tool/rate-limit.js';
export { runTool } from './tool/run-tool.js';
export type { CallLimit } from './tool/call-limit.js';
export { firstPage, pageOf, readResultType } from './tool/result-page.js';
export type { PageStart } from './tool/result-page.js';
export { CallSecrets } from './tool/secrets.js';
export {
  ToolAnswerUnreadableError,
  ToolConnectionDeniedError,
  ToolConnectionUnreachableError,
  toolEffects,
  ToolFailedError,
  ToolHeldBackError,
  ToolInputError,
  ToolOutcomeLostError,
  ToolOutput,
  ToolProcessEndedError,
  ToolTimeoutError,
  ToolUnavailableError,
  ToolUserError,
  ToolWaitsError,
} from './tool/types.js';
export type {
  BoundTool,
  InputProblem,
  ReconcileAnswer,
  Redaction,
  ToolCapabilities,
  ToolEffect,
  ToolExecResult,
  ToolInvocationContext,
  ToolSource,
  ToolSpec,
} from './tool/types.js';
