import { serverScenarios } from '../../mcp/conformance-server.js';

serverScenarios();
