import 'reflect-metadata';
import { availableParallelism, cpus } from 'node:os';
import { benchAudit } from './audit.js';
import { benchBytes } from './bytes.js';
import { benchCapacity } from './capacity/main.js';
import { sizeCommand } from './capacity/size-command.js';
import { benchContent } from './content.js';
import { benchDescriptions } from './descriptions/main.js';
import { benchDiscovery } from './discovery/main.js';
import { benchProxy } from './discovery/proxy.js';
import { benchFairness, benchFairnessOnKafka } from './fairness.js';
import { benchGateway } from './gateway/main.js';
import { benchHistory } from './history/compare.js';
import { seedCommand } from './history/main.js';
import { benchParked } from './history/parked.js';
import { benchLines } from './lines.js';
import { benchLoop } from './loop.js';
import { benchProcess } from './process.js';
import { benchKafka, benchMcpKafka, benchThroughput } from './kafka/main.js';
import { benchInstances } from './kafka/instances.js';
import { benchMemory } from './kafka/memory.js';
import { benchMcp } from './mcp.js';
import { benchMetrics } from './metrics.js';
import { asAService } from './node-flags.js';
import { benchReplay } from './replay.js';
import { benchRules } from './rules.js';
import { benchTags } from './tags.js';
import { benchTools } from './tools/main.js';
import { benchWires } from './wires.js';
import { benchWholeLoop } from './whole-loop.js';

/** All measurements, side by side in one run. `npm run bench -- rules tools loop process` picks some. */
const parts: Readonly<Record<string, () => Promise<void>>> = {
  rules: benchRules,
  tags: benchTags,
  tools: benchTools,
  wires: benchWires,
  discovery: benchDiscovery,
  proxy: benchProxy,
  descriptions: benchDescriptions,
  audit: benchAudit,
  bytes: benchBytes,
  loop: benchLoop,
  fairness: benchFairness,
  'fairness-kafka': benchFairnessOnKafka,
  mcp: benchMcp,
  'mcp-kafka': benchMcpKafka,
  content: benchContent,
  metrics: benchMetrics,
  lines: benchLines,
  replay: benchReplay,
  process: benchProcess,
  history: benchHistory,
  parked: benchParked,
  throughput: () => asAService('throughput', benchThroughput),
  kafka: benchKafka,
  gateway: benchGateway,
  'whole-loop': benchWholeLoop,
  instances: benchInstances,
  memory: benchMemory,
  capacity: benchCapacity,
};

// A `--` stands there where the program is run without npm, which takes it out.
const wanted = process.argv.slice(2).filter((word) => word !== '--');
/** Not measurements: with arguments of their own. */
const commands: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  seed: seedCommand,
  size: (args) => Promise.resolve(args).then(sizeCommand),
};
const command = commands[wanted[0] ?? ''];
if (command !== undefined) {
  await command(wanted.slice(1)).catch((error: unknown) => {
    console.error((error as Error).message);
    process.exitCode = 1;
  });
  process.exit();
}
const unknown = wanted.filter((name) => parts[name] === undefined);
if (unknown.length > 0) {
  console.error(`There is no measurement ${unknown.join(', ')}. There are: ${Object.keys(parts).join(', ')}.`);
  process.exit(1);
}
console.log(`Node ${process.versions.node}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}`);
for (const [name, measure] of Object.entries(parts)) {
  if (wanted.length === 0 || wanted.includes(name)) await measure();
}
