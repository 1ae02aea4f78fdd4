import type { Plan } from './sizing.js';

/** What docs/capacity.md sizes: a mix of all kinds by all doors, with a model and tools of the usual pace. */
export const standardPlan: Plan = {
  perSecond: 100,
  mix: {
    'log answer': 0.1,
    'log read': 0.25,
    'log effect': 0.15,
    'log three': 0.1,
    'log call': 0.1,
    'http read': 0.2,
    'mcp call': 0.1,
  },
  coreShare: 0.5,
  databaseCores: 8,
  brokerCores: 8,
  databaseBytes: 2e12,
  modelSeconds: 3,
  toolSeconds: 0.5,
  replication: 3,
  keptDays: 7,
};

export const standardPlans: readonly Plan[] = [100, 1_000, 10_000].map((perSecond) => ({ ...standardPlan, perSecond }));
