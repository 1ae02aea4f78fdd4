export { maxCarriedBytes } from './port.js';
export type {
  Bus,
  BusLog,
  Consumer,
  ConsumerObserver,
  Dead,
  Handler,
  HandlerContext,
  Incoming,
  LogIdentity,
  LogReader,
  Outgoing,
  ReadFrom,
  ReadOptions,
  Retry,
  Subscription,
} from './port.js';
export { skipUndecodable, recordAt } from './record-at.js';
export { trustedTimeOf } from './trusted-time.js';
export type { KafkaBus } from './kafka/bus.js';
export { examineKafka, openKafkaBus } from './kafka/open.js';
export type { KafkaExamination } from './kafka/admin/examine.js';
export type { KafkaBusOptions, SaslOptions } from './kafka/options.js';
export type { TopicFinding, TopicThere } from './kafka/admin/findings.js';
export {
  credentialOf,
  isCredentialGone,
  sealedScheme,
  senderHeader,
  withoutCredentials,
} from './processing/credential.js';
export { tenantHeader } from './processing/session.js';
export { examineLogFile, schemasOf } from './sqlite/examine.js';
export type { ExaminedLog } from './sqlite/examine.js';
export { openSqliteBus } from './sqlite/bus.js';
export type { SqliteBus, SqliteBusOptions } from './sqlite/bus.js';
export { GroupHeld } from './sqlite/lease.js';
