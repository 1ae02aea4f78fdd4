import { supervisorVariable } from './protocol.ts';
import { launch } from './launch.ts';
import { running } from './running.ts';

/** Jest's globalSetup: one supervisor for the run. It starts nothing until a test asks. */
export default async function start(): Promise<void> {
  running.supervisor = await launch();
  process.env[supervisorVariable] = running.supervisor.url;
}
