import { configurationKeys } from './keys.js';
import { quote } from '@sluice/core';
import type { AvailabilityRule, MonitoringSettings } from '@sluice/core';
import type { Section } from './section.js';

/**
 * `monitoring`: where files such as `tool_discovery.jsonl` are written, and where rules find measures; null for
 * neither.
 */
export function readMonitoring(section: Section, rules: readonly AvailabilityRule[]): MonitoringSettings | null {
  section.closed(configurationKeys.monitoring);
  const folder = section.text('folder', 'the path of a folder, relative to the working directory');
  const prometheusUrl = section.address('prometheus_url');
  const asking = rules.find(({ load }) => load !== undefined && typeof load.measure === 'object');
  if (asking !== undefined && prometheusUrl === null && !section.has('prometheus_url')) {
    const found = `nothing, though the rule ${quote(asking.name)} asks Prometheus`;
    section.problem(section.at('prometheus_url'), found, 'its address, such as `http://localhost:9090`');
  }
  if (folder === null && prometheusUrl === null) return null;
  return { folder, ...(prometheusUrl === null ? {} : { prometheusUrl }) };
}
