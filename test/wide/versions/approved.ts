import type { Cluster } from '../../cluster/cluster.js';
import type { KafkaReader } from '../../cluster/reader.js';
import { actingConfiguration } from '../../harness/acting-configuration.js';
import { eventually } from '../../harness/eventually.js';
import type { Script } from '../../harness/scripted-endpoint.js';

/** The configuration of runs that look and act, and of runs in the group `signing`, whose one call waits. */
export const withSigning = (model: string, effects: string): string =>
  actingConfiguration(model, effects, 60)
    .replace(
      '\npolicy:',
      '\n  sign: { type: mcp-tool, group: [signing], state: signed, available_in_states: [undefined] }$&',
    )
    .replace(
      'allowed_tools: [now, act] }',
      "allowed_tools: [now, act, sign], approval: { approvers: ['user:ann'], effects: [state_change] } }",
    )
    .replace(`{ url: "${effects}" } }`, `{ url: "${effects}" }, signing: { url: "${effects}" } }`)
    .replace(
      'tools: { act:',
      'tools: { sign: { server: signing, tool: act, effect: state_change, redaction: whole }, act:',
    );

/** Two calls, of what is offered in the state that the run is in; where nothing is, the answer. */
export const script: Script = (turn, offered) =>
  offered[0] === undefined || turn > 1 ? undefined : [offered[0], '{}'];

/** Asks for a run whose call waits, and returns the id of its approval. */
export async function waiting(cluster: Cluster, reader: KafkaReader, id: string): Promise<string> {
  const request = { question: 'Sign it', group: ['signing'], request_id: id, session_id: id };
  await reader.publishJson([request]);
  const line = await eventually(
    async () => (await cluster.command('approvals', 'list', '--json')).trim(),
    (text) => text.startsWith('{'),
  );
  return (JSON.parse(line) as { approval_id: string }).approval_id;
}

/** Approves, and waits until the run has ended. */
export async function approve(cluster: Cluster, reader: KafkaReader, approval: string, id: string): Promise<void> {
  await cluster.command('approvals', 'approve', approval, '--as', 'user:ann');
  await reader.until(() => reader.ended.has(id), 60_000);
}
