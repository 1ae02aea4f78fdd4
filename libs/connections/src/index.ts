export { createConnectionBroker } from './broker.js';
export type { BrokerParts, Outcome } from './broker.js';
export { credentialForServers } from './for-servers.js';
export { formsOf } from './forms.js';
