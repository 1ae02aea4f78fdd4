import type { MessagePort } from 'node:worker_threads';
import { compiledFrom } from '@sluice/run';
import { RecordedConfigurations } from '../configurations.js';
import { replaying } from '../replay.js';
import type { Replaying } from '../replay.js';
import { considering } from '../what-if.js';
import type { ReplayJob } from './replay-job.js';
import { serve } from './serve.js';

/** Does in this thread what another one sends through the port; what cannot be sent, the thread brings along. */
export async function serveReplay(
  port: MessagePort,
  job: ReplayJob,
  { verifier, authorizerOf }: Omit<Replaying, 'selection'>,
): Promise<void> {
  const { selection } = job;
  const configurations = new RecordedConfigurations(job.configurations);
  if (job.kind === 'replay') return serve(port, await replaying(configurations, { selection, verifier, authorizerOf }));
  const candidate = compiledFrom(job.candidate).evaluator;
  return serve(port, considering(configurations, { candidate, selection, authorizerOf }));
}
