import { ToolUserError } from '@sluice/core';

const stepsBetweenLooks = 4_096;

/** The time of a query, looked at every so many steps. */
export class QueryBudget {
  private steps = 0;

  constructor(private readonly until: number) {}

  /** Throws ToolUserError when the time is over. */
  tick(steps = 1): void {
    this.steps += steps;
    if (this.steps < stepsBetweenLooks) return;
    this.steps = 0;
    if (performance.now() > this.until) throw new ToolUserError('The query takes too long. Narrow it down.');
  }
}
