import type { KafkaBus } from './bus.js';
import type { KafkaExamination } from './admin/examine.js';
import type { KafkaBusOptions } from './options.js';

/**
 * Resolves when broker and registry are there, the topics exist and the schemas have their numbers; until then it
 * tries again and the log says what is missing. Throws Fault('storage') at once for what waiting does not mend
 * (credentials, an incompatible schema), and RangeError for options that contradict each other.
 *
 * The client of Kafka, 200 modules, is loaded here, so that commands on an embedded log start without it.
 */
export async function openKafkaBus(options: KafkaBusOptions): Promise<KafkaBus> {
  const [{ busOn }, { clientsFor }] = await Promise.all([import('./bus.js'), import('./kafkajs/clients.js')]);
  return busOn(clientsFor(options), options);
}

/** Looks at broker, topics, rights and registry without a change to them. */
export async function examineKafka(options: KafkaBusOptions): Promise<KafkaExamination> {
  const [{ examinationOn }, { clientsFor }] = await Promise.all([
    import('./admin/examine.js'),
    import('./kafkajs/clients.js'),
  ]);
  return examinationOn(clientsFor(options), options);
}
