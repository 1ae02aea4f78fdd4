import { describe } from '@jest/globals';
import { inGraph } from './in-graph.js';
import { describeGraphTools } from './tools-suite.js';

describe('the embedded graph', () => describeGraphTools(inGraph));
