import { actingConfiguration } from '../harness/acting-configuration.js';
import { scriptedEndpoint } from '../harness/scripted-endpoint.js';
import { openCluster } from './cluster.js';
import type { Cluster } from './cluster.js';
import { effectServer } from './effect-server.js';
import type { EffectServer } from './effect-server.js';

export interface Acting {
  readonly cluster: Cluster;
  readonly effects: EffectServer;
  close(): Promise<void>;
}

/**
 * On a busy machine a call of milliseconds may take longer than 5 s; one that is late would count as one whose
 * instance was killed.
 */
const toolSeconds = 60;

/** A cluster, with nothing started yet, whose runs look at the time and then act on the world so many times. */
export async function openActing(acts: number): Promise<Acting> {
  const act = Array.from({ length: acts }, () => ['mcp__effects__act', '{}'] as const);
  const model = await scriptedEndpoint([['core__now', '{}'], ...act], 5);
  const effects = await effectServer(20);
  const closeOutside = async (): Promise<void> => {
    await effects.close();
    await model.close();
  };
  try {
    const cluster = await openCluster(actingConfiguration(model.baseUrl, effects.url, toolSeconds));
    return { cluster, effects, close: () => cluster.close().finally(closeOutside) };
  } catch (error) {
    await closeOutside();
    throw error;
  }
}
