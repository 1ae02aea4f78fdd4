import { Resources } from './generated/calls.js';
import { Approvals, Audit, Configurations, Groups, States } from './resources.js';
import { Runs } from './runs.js';
import { Transport } from './transport.js';
import type { ClientOptions } from './transport.js';

/** A gateway of Sluice, asked over HTTP. */
export class Sluice extends Resources {
  readonly runs: Runs;
  readonly approvals: Approvals;
  override readonly configurations: Configurations;
  readonly groups: Groups;
  readonly states: States;
  readonly audit: Audit;

  constructor(options: ClientOptions) {
    const transport = new Transport(options);
    super(transport);
    this.runs = new Runs(transport);
    this.approvals = new Approvals(transport);
    this.configurations = new Configurations(transport);
    this.groups = new Groups(transport);
    this.states = new States(transport);
    this.audit = new Audit(transport);
  }
}
