import { BigValueColorMode, BigValueGraphMode, VisibilityMode } from '@grafana/grafana-foundation-sdk/common';
import * as common from '@grafana/grafana-foundation-sdk/common';
import { ThresholdsConfigBuilder, ThresholdsMode } from '@grafana/grafana-foundation-sdk/dashboard';
import type { DataTransformerConfig } from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';

/** The one that the dashboard's variable names. */
export const datasource = { type: 'prometheus', uid: '${datasource}' };

export interface Query {
  readonly expr: string;
  /** What a series is called; labels in double braces. */
  readonly legend: string;
}

/** What every panel says of itself. */
export interface About {
  readonly title: string;
  /** What it shows, and what to make of it. */
  readonly description: string;
  readonly unit: string;
}

/** Columns of a dashboard. */
const wide = 24;

export function lines({ title, description, unit }: About, ...queries: Query[]): TimeseriesBuilder {
  const panel = new TimeseriesBuilder()
    .title(title)
    .description(description)
    .unit(unit)
    .datasource(datasource)
    .height(8)
    .span(wide / 3)
    .fillOpacity(10)
    .lineWidth(1)
    .showPoints(VisibilityMode.Never)
    .axisSoftMin(0)
    .legend(
      new common.VizLegendOptionsBuilder()
        .displayMode(common.LegendDisplayMode.List)
        .placement(common.LegendPlacement.Bottom)
        .showLegend(true),
    )
    .tooltip(
      new common.VizTooltipOptionsBuilder().mode(common.TooltipDisplayMode.Multi).sort(common.SortOrder.Descending),
    );
  for (const [index, query] of queries.entries()) panel.withTarget(target(query, index).range());
  return panel;
}

/** One number, as it is now or over the time range; from `alarming` on it is red. */
export function figure({ title, description, unit }: About, expr: string, alarming?: number): StatBuilder {
  const calm = { value: null, color: alarming === undefined ? 'blue' : 'green' };
  const steps = alarming === undefined ? [calm] : [calm, { value: alarming, color: 'red' }];
  return new StatBuilder()
    .title(title)
    .description(description)
    .unit(unit)
    .datasource(datasource)
    .height(4)
    .span(wide / 8)
    .colorMode(BigValueColorMode.Value)
    .graphMode(BigValueGraphMode.Area)
    .thresholds(new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(steps as never))
    .withTarget(target({ expr, legend: title }, 0).range());
}

/** Rows by the labels of an instant query; `shaped` says how they become a table. */
export function rows({ title, description, unit }: About, expr: string, ...shaped: DataTransformerConfig[]) {
  return new TableBuilder()
    .title(title)
    .description(description)
    .unit(unit)
    .datasource(datasource)
    .height(8)
    .span(wide / 2)
    .transformations(shaped)
    .withTarget(target({ expr, legend: '' }, 0).instant().format(PromQueryFormat.Table));
}

/** Only these columns, under these names, in this order. */
export function columns(names: Readonly<Record<string, string>>): DataTransformerConfig[] {
  const order = Object.keys(names);
  const indexByName = Object.fromEntries(order.map((name, index) => [name, index]));
  return [
    { id: 'filterFieldsByName', options: { include: { names: order } } },
    { id: 'organize', options: { indexByName, renameByName: names } },
  ];
}

function target({ expr, legend }: Query, index: number): DataqueryBuilder {
  return new DataqueryBuilder()
    .refId(String.fromCharCode('A'.charCodeAt(0) + index))
    .datasource(datasource)
    .expr(expr)
    .legendFormat(legend);
}
