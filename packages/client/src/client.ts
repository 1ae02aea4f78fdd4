import { Approvals, Audit, DeadLetters, Groups, Sessions, States, Tools } from './resources.js';
import { Runs } from './runs.js';
import { Transport } from './transport.js';
import type { ClientOptions } from './transport.js';

/** A gateway of Sluice, asked over HTTP. */
export class Sluice {
  readonly runs: Runs;
  readonly sessions: Sessions;
  readonly approvals: Approvals;
  readonly groups: Groups;
  readonly states: States;
  readonly tools: Tools;
  readonly audit: Audit;
  /** For operators. */
  readonly deadLetters: DeadLetters;

  constructor(options: ClientOptions) {
    const transport = new Transport(options);
    this.runs = new Runs(transport);
    this.sessions = new Sessions(transport);
    this.approvals = new Approvals(transport);
    this.groups = new Groups(transport);
    this.states = new States(transport);
    this.tools = new Tools(transport);
    this.audit = new Audit(transport);
    this.deadLetters = new DeadLetters(transport);
  }
}
