import { clients } from './clients.ts';
import { groupsAndStates } from './groups-and-states.ts';
import { modelDashboard } from './model.ts';
import { overview } from './overview.ts';
import { runtime } from './runtime.ts';
import { security } from './security.ts';
import { tools } from './tools.ts';

const all = [overview, groupsAndStates, tools, security, modelDashboard, clients, runtime];

/** Every dashboard as Grafana reads it, by the name of its file. */
export const files: ReadonlyMap<string, string> = new Map(
  all.map((dashboard) => [`${dashboard.uid}.json`, `${JSON.stringify(dashboard, null, 2)}\n`]),
);
