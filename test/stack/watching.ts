import { dashboards, inPlaceOfVariables, panelsOf } from '../monitoring/promql.js';

interface Answer<Data> {
  readonly data: Data;
}

/** What Grafana does in the dashboards of the stack, whose services are scraped every 15 s. */
const variables = { $__rate_interval: '1m', $__range: '1h' };

/** The stack's Prometheus and Grafana, asked from the host. */
export class Watching {
  constructor(private readonly ports: { readonly prometheus: number; readonly grafana: number }) {}

  /** The first value of an instant query; null if there is none. */
  async value(query: string): Promise<number | null> {
    const { data } = await this.prometheus<{ result: { value: [number, string] }[] }>(
      `query?query=${encodeURIComponent(query)}`,
    );
    const [first] = data.result;
    return first === undefined ? null : Number(first.value[1]);
  }

  /**
   * The alerts that have woken somebody since the stack was begun, each once for what it was about: `SluiceNotReady
   * check=log role=filter`.
   */
  async woken(): Promise<readonly string[]> {
    const ever = 'max_over_time(ALERTS{alertstate="firing", severity="page"}[1d])';
    const { data } = await this.prometheus<{ result: { metric: Readonly<Record<string, string>> }[] }>(
      `query?query=${encodeURIComponent(ever)}`,
    );
    return data.result
      .map(({ metric: { alertname, alertstate, severity, job, ...about } }) =>
        [alertname, ...Object.entries(about).map((label) => label.join('='))].join(' '),
      )
      .sort();
  }

  /** The rules, and those of them that have not been evaluated, or in vain. */
  async rules(): Promise<{ readonly all: number; readonly broken: readonly string[] }> {
    const { data } = await this.prometheus<{ groups: { rules: { name: string; health: string }[] }[] }>('rules');
    const rules = data.groups.flatMap((group) => group.rules);
    return { all: rules.length, broken: rules.filter(({ health }) => health !== 'ok').map(({ name }) => name) };
  }

  /**
   * The queries of panels that find nothing or fail, as Prometheus answers them and, where Grafana is the stand-in,
   * as that one says.
   */
  async silentPanels(): Promise<readonly string[]> {
    const silent: string[] = [];
    for (const [file, dashboard] of dashboards())
      for (const { title, targets = [] } of panelsOf(dashboard))
        for (const { expr } of targets)
          if ((await this.value(inPlaceOfVariables(expr, variables))) === null)
            silent.push(`${file}: ${title}: ${expr}`);
    return [...silent, ...(await this.reported())];
  }

  private async reported(): Promise<readonly string[]> {
    const response = await fetch(`http://127.0.0.1:${this.ports.grafana}/standin/report`);
    if (response.status === 404) return [];
    const entries = (await response.json()) as { dashboard: string; panel: string; status: string; message: string }[];
    const bad = entries.filter(({ status }) => status !== 'ok');
    return bad.map(
      ({ dashboard, panel, status, message }) => `${dashboard}: ${panel} is ${status} in Grafana ${message}`,
    );
  }

  private async prometheus<Data>(path: string): Promise<Answer<Data>> {
    const response = await fetch(`http://127.0.0.1:${this.ports.prometheus}/api/v1/${path}`);
    if (!response.ok) throw new Error(`Prometheus answers ${response.status} to ${path}: ${await response.text()}`);
    return (await response.json()) as Answer<Data>;
  }
}
