/** What the panels ask of Prometheus. Series are those of the services that the dashboard's variables select. */

/** A metric of the selected services; `matchers` as PromQL writes them. */
export function of(metric: string, ...matchers: string[]): string {
  return `${metric}{${['job="sluice"', 'role=~"$role"', 'instance=~"$instance"', ...matchers].join(', ')}}`;
}

/** A second, over the interval that Grafana finds right for the scrape interval and the zoom. */
export function rate(metric: string, ...matchers: string[]): string {
  return `rate(${of(metric, ...matchers)}[$__rate_interval])`;
}

/** Over the whole time range of the dashboard. */
export function increase(metric: string, ...matchers: string[]): string {
  return `increase(${of(metric, ...matchers)}[$__range])`;
}

export function sumBy(labels: string, expression: string): string {
  return labels === '' ? `sum(${expression})` : `sum by (${labels}) (${expression})`;
}

/** A quantile of a histogram, by labels if any. */
export function quantile(share: number, metric: string, labels = '', ...matchers: string[]): string {
  const by = labels === '' ? 'le' : `le, ${labels}`;
  return `histogram_quantile(${share}, sum by (${by}) (${rate(`${metric}_bucket`, ...matchers)}))`;
}

/** For what rightly has no series, or none yet: zero in place of none, and not beside others. */
export function orZero(expression: string): string {
  return `${expression} or on() vector(0)`;
}
