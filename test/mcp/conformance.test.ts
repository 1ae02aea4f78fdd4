import { hubScenarios } from './conformance-hub.js';
import { serverScenarios } from './conformance-server.js';

// What each client does first; all scenarios are `npm run test:wide -- conformance`.
serverScenarios(['tools-list', 'tools-call-simple-text', 'tools-call-error', 'dns-rebinding-protection']);
hubScenarios(['tools_call']);
