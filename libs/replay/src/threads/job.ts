import type { MessagePort } from 'node:worker_threads';
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
  const { version } = job.candidate;
  const texts = new Map([[version, JSON.stringify(job.candidate)]]);
  const written = { texts, manifests: new Map(), parts: new Map() };
  const candidate = new RecordedConfigurations({ written, times: [] }).get(version);
  return serve(port, considering(configurations, { candidate, selection, authorizerOf }));
}
