// A process and its parts
export { namesInClone, processEnvironment, readEnvironment } from './environment.js';
export type { CommandNames, Environment } from './environment.js';
export type { HttpSettings } from './http-environment.js';
export type { Kept } from './retention-environment.js';
export { openContent } from './open-content.js';
export { openRuntime } from './open-runtime.js';
export type { OpenRuntime } from './open-runtime.js';
export { PerServerLimit } from './per-server-limit.js';
export { isLoopback, otherMachine, peerOf } from './loopback.js';
export { guardHost, hostOf, hostProblem } from './host-names.js';
export { authenticatorOf } from './authenticator-of.js';
export { AUTHENTICATOR, RUNTIME, systemClock } from './runtime.js';
export type { AcceptChanges, Acceptance, Runtime } from './runtime.js';
export { stopSignal, runProcess } from './run-process.js';
export { listenError } from './listen-error.js';
export { compileFile, compileText, neededServers } from './configuration-file.js';
export type { Compiled, CompileWith } from './configuration-file.js';
// A service on the log
export { startService } from './service.js';
export { observerOf, watchConsumer } from './consumer-metrics.js';
export type { Service } from './start-service.js';
export { holdDataFolder } from './in-turn.js';
export { Handles } from './handles.js';
// Following runs
export { Busy } from './watch/busy.js';
export { endIfElsewhere, isElsewhere, claimedElsewhere } from './watch/elsewhere.js';
export type { Followed } from './watch/followed.js';
export { Past } from './watch/past.js';
export { anothersRun, isSame, RunAccess } from './watch/run-access.js';
export { countDenial } from './watch/count-denial.js';
export { hookSecrets } from './hook-secrets.js';
export { RequestIntake } from './request-intake.js';
export { RunDecisions } from './run-decisions.js';
export type { AcceptedRequest } from './request-intake.js';
export { senderOf, senderOfRequest } from './record-sender.js';
export type { Sender } from './record-sender.js';
export { VerifiedCallers } from './watch/verified-callers.js';
export { lookForCancel } from './watch/look-for-cancel.js';
export { OpenRunLimit, TooManyRuns } from './watch/open-run-limit.js';
export { RunWatch } from './watch/run-watch.js';
export { LoadWatch } from './load/load-watch.js';
// What it writes for operators
export { commandLog, createLog, logToFile, nestLog } from './log.js';
export type { Log } from './log.js';
export { withLogContext } from './log-context.js';
export { createMetrics } from './metrics.js';
export type { Metrics } from './metrics.js';
export { DiscoveryRecords } from './discovery/discovery-records.js';
export { BoundedNames } from './bounded-names.js';
export {
  measureBudgetRefusal,
  measureFailure,
  measureLeftOut,
  measureSkippedModels,
  measurePrompt,
  measureTurn,
} from './model-metrics.js';
export { noTraces } from './traces/traces.js';
export type { SpanEnd, Traces } from './traces/traces.js';
export { apiSpan, chatSpan, mcpSpan, toolSpan, usage } from './traces/spans.js';
export { inHop } from './traces/hop.js';
// The stores and keys that commands open by themselves
export { dataFiles, makeFolder, prepareDataFolder } from './data-folder.js';
export { Credentials } from './credentials.js';
export { LocalSecret } from './local-secret.js';
export { readLocalSecret } from './local-secret-environment.js';
export { examineLedger, examineLog, examineRecords, openLogFile, requireLog } from './open-sqlite.js';
export { examineCluster } from './open-kafka.js';
export { newestVersion } from './written-by.js';
export { requireBelonging } from './belonging.js';
export {
  examineClaimDatabase,
  examineDatabase,
  openBus,
  openLedger,
  projectionLocation,
  requireSharedLedger,
} from './open-stores.js';
export { privateDocuments } from './sealed-documents.js';
export {
  createKeyFile,
  keyFile,
  openSignatures,
  openVerifier,
  ownHeaders,
  ownToken,
  recordedKeys,
  replaceKeyFile,
  requireSigner,
  verifierForLooking,
  verifierIfAny,
} from './keys-environment.js';
export { contentByDefault } from './content-environment.js';
export { contentExpiry } from './content-expiry.js';
