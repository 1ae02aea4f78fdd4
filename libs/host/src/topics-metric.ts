import type { TopicFinding } from '@sluice/bus';
import type { Metrics } from './metrics.js';

/** How often what the log knows of its topics is looked at, milliseconds. */
const everyMs = 5_000;

/** Keeps `sluice_topic_findings` up to date; returns what ends it. */
export function watchTopics(findings: () => readonly TopicFinding[], { topicFindings }: Metrics): () => void {
  const look = (): void => {
    topicFindings.reset();
    for (const { topic, setting, endangers } of findings())
      topicFindings.set({ topic, setting, endangers: String(endangers) }, 1);
  };
  look();
  const timer = setInterval(look, everyMs);
  return () => clearInterval(timer);
}
