import { hubScenarios } from '../../mcp/conformance-hub.js';

hubScenarios();
