import { CallSecrets } from '@sluice/core';
import type { BoundTool, ConnectionBroker, ToolExecResult, ToolInvocationContext } from '@sluice/core';
import type { Loaded } from '@sluice/run';
import type { Runtime } from '@sluice/host';
import type { CallCredential } from '@sluice/tools';
import { openCredential } from './open-credential.js';

/** One call and its connection: the credential it is given, and what keeps that out of everything the call says. */
export class CallConnection {
  private readonly secrets = new CallSecrets();
  private opened: Promise<CallCredential> | undefined;

  constructor(
    private readonly granting: Loaded,
    private readonly inForce: Loaded,
    private readonly broker: ConnectionBroker,
    private readonly runtime: Pick<Runtime, 'log' | 'metrics'>,
  ) {}

  /**
   * Asked for by two of a tool's capabilities, it is opened once. As the connection is set up now: what was changed
   * since the grant counts at once, and what was taken away has been refused before.
   */
  credential(context: ToolInvocationContext, signal: AbortSignal): Promise<CallCredential> {
    const settings = this.inForce.configuration.connections?.find(({ id }) => id === context.connectionId);
    return (this.opened ??= openCredential(this.broker, settings, context, this.secrets, signal));
  }

  /** Takes the credential out of what the call says before its result. */
  get concealing(): Pick<CallSecrets, 'text' | 'value'> {
    return this.secrets;
  }

  /** The result without the credential. A tool that repeats its own is a mistake, or worse, and worth a line. */
  conceal(tool: BoundTool, result: ToolExecResult, requestId: string): ToolExecResult {
    const concealed = this.secrets.result(result);
    if (this.secrets.wereFound) {
      const key = this.granting.evaluator.byId(tool.id)?.key ?? tool.id;
      this.runtime.metrics.hiddenCredentials.inc({ tool: key });
      this.runtime.log.warn(
        { request_id: requestId, tool: key },
        'a tool repeated the credential it was given; it was taken out of what the tool said',
      );
    }
    return concealed;
  }
}
