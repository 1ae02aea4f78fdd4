export * from './port.js';
export { takenAt } from './taken-at.js';
export { passedOver, recordAt } from './record-at.js';
export { openSqliteBus } from './sqlite/bus.js';
export type { SqliteBus, SqliteBusOptions } from './sqlite/bus.js';
export {
  credentialOf,
  isCredentialGone,
  sealedScheme,
  senderHeader,
  withoutCredentials,
} from './processing/credential.js';
export { tenantHeader } from './processing/session.js';
export { GroupHeld } from './sqlite/lease.js';
export { openKafkaBus } from './kafka/open.js';
export type { TopicFinding, TopicThere } from './kafka/admin/findings.js';
export type { KafkaBus } from './kafka/bus.js';
export type { KafkaBusOptions, RegistryOptions, SaslOptions, TlsOptions, TopicOptions } from './kafka/options.js';
