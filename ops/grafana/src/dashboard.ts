import {
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import type { Dashboard, Panel, VariableModel } from '@grafana/grafana-foundation-sdk/dashboard';
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import { datasource } from './panels.ts';

const tag = 'sluice';

export interface Page {
  /** The last part of its address, and of its file. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** Besides the data source, the role and the instance. */
  readonly variables?: readonly Builder<VariableModel>[];
  /** Panels by the title of their row. */
  readonly rows: Readonly<Record<string, readonly Builder<Panel>[]>>;
}

/** A dashboard with what all of them have: the variables, the links to the others, a shared crosshair. */
export function dashboardOf({ name, title, description, variables = [], rows }: Page): Dashboard {
  const builder = new DashboardBuilder(`Sluice: ${title}`)
    .uid(`sluice-${name}`)
    .description(description)
    .tags([tag])
    .timezone('browser')
    .time({ from: 'now-1h', to: 'now' })
    .refresh('30s')
    .tooltip(DashboardCursorSync.Crosshair)
    .link(
      new DashboardLinkBuilder('Sluice')
        .type(DashboardLinkType.Dashboards)
        .tags([tag])
        .includeVars(true)
        .keepTime(true),
    )
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'))
    .withVariable(choice('role', 'Role', 'label_values(up{job="sluice"}, role)'))
    .withVariable(choice('instance', 'Instance', 'label_values(up{job="sluice", role=~"$role"}, instance)'));
  for (const variable of variables) builder.withVariable(variable);
  for (const [rowTitle, panels] of Object.entries(rows)) {
    builder.withRow(new RowBuilder(rowTitle));
    for (const panel of panels) builder.withPanel(panel);
  }
  return laidOut(builder.build());
}

/** Columns of the page. */
const wide = 24;

/**
 * Panels from left to right, in lines as high as their highest; a row begins a line. What is built says how large
 * they are.
 */
function laidOut(dashboard: Dashboard): Dashboard {
  let [x, y, high] = [0, 0, 0];
  for (const { type, gridPos } of dashboard.panels ?? []) {
    if (gridPos === undefined) continue;
    if (type === 'row' || x + gridPos.w > wide) [x, y, high] = [0, y + high, 0];
    Object.assign(gridPos, { x, y });
    x += gridPos.w;
    high = Math.max(high, gridPos.h);
    if (type === 'row') [x, y, high] = [0, y + high, 0];
  }
  return dashboard;
}

/** A variable with the values that a label has, all of them at first. */
export function choice(name: string, label: string, query: string): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .label(label)
    .datasource(datasource)
    .query({ query, refId: name })
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)
    .multi(true)
    .includeAll(true)
    .allValue('.*')
    .current({ selected: true, text: 'All', value: '$__all' });
}
