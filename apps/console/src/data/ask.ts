import type { AgentRequest, Run } from '@sluice/client';
import { sluice } from './client.js';

/** Uploads the files, then starts the run whose question has them, in their order. */
export async function askWith({
  request,
  files,
}: {
  readonly request: AgentRequest;
  readonly files: readonly File[];
}): Promise<Run> {
  if (files.length === 0) return sluice.runs.create(request);
  const content = [];
  for (const file of files) content.push((await sluice.runs.upload(file)).content);
  return sluice.runs.create({ ...request, content });
}
