/**
 * The values of the chart: `npm run generate` writes values.yaml, values.schema.json and docs/chart.md from here. Each
 * text stands in all three.
 */
export interface Value {
  readonly about: string;
  readonly value: unknown;
  /** JSON Schema of the value. */
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface Section {
  readonly about: string;
  readonly members: Members;
  /** The members are alike, as the roles are. */
  readonly alike?: string;
}

export interface Members {
  readonly [name: string]: Value | Section;
}

type Schema = Readonly<Record<string, unknown>>;
const set = (about: string, value: unknown, schema: Schema): Value => ({ about, value, schema });
const section = (about: string, members: Members): Section => ({ about, members });

const text = (about: string, value = '', schema: Schema = {}): Value =>
  set(about, value, { type: 'string', ...schema });
const flag = (about: string, value: boolean): Value => set(about, value, { type: 'boolean' });
const whole = (about: string, value: number, minimum = 1, maximum?: number): Value =>
  set(about, value, { type: 'integer', minimum, ...(maximum === undefined ? {} : { maximum }) });
const choice = (about: string, values: readonly string[]): Value => set(about, values[0], { enum: values });
const texts = (about: string, value: Readonly<Record<string, string>> = {}): Value =>
  set(about, value, { type: 'object', additionalProperties: { type: 'string' } });
/** What Kubernetes itself knows and checks. */
const objects = (about: string, value: readonly object[] = []): Value =>
  set(about, value, { type: 'array', items: { type: 'object' } });
const object = (about: string, value: object = {}): Value => set(about, value, { type: 'object' });
const strict = (properties: Schema, required: readonly string[]): Schema => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
});

const kubernetesName = { type: 'string', pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' };
const secretName = (about: string): Value =>
  set(about, '', { type: 'string', pattern: '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$' });
const secretKey = (about: string, value: string): Value =>
  set(about, value, { type: 'string', pattern: '^[-._a-zA-Z0-9]+$' });
const amount = { type: ['string', 'integer'], pattern: '^[0-9.]+(m|k|M|G|T|Ki|Mi|Gi|Ti)?$' };
const amounts = {
  type: 'object',
  additionalProperties: false,
  properties: { cpu: amount, memory: amount, 'ephemeral-storage': amount },
};
const resources = (memory: string): Value =>
  set(
    'Requests and limits of the container. The heap has two fifths of the memory.',
    { requests: { cpu: '100m', memory }, limits: { memory } },
    { type: 'object', additionalProperties: false, properties: { requests: amounts, limits: amounts } },
  );

const anyNamespace = [{ namespaceSelector: {} }];

const placement = {
  labels: { type: 'object', additionalProperties: { type: 'string' } },
  annotations: { type: 'object', additionalProperties: { type: 'string' } },
  nodeSelector: { type: 'object', additionalProperties: { type: 'string' } },
  tolerations: { type: 'array', items: { type: 'object' } },
  affinity: { type: 'object' },
  priorityClassName: { type: 'string' },
  spread: {
    type: 'array',
    items: strict(
      { topologyKey: { type: 'string' }, whenUnsatisfiable: { enum: ['ScheduleAnyway', 'DoNotSchedule'] } },
      ['topologyKey', 'whenUnsatisfiable'],
    ),
  },
};

interface RoleOptions {
  readonly memory?: string;
  readonly isDoor?: boolean;
}

/** What each role has; a door has a service beside it. */
const role = (about: string, { memory = '256Mi', isDoor = false }: RoleOptions = {}): Section =>
  section(about, {
    enabled: flag('Whether the role runs. A release may leave roles to another one on the same Kafka.', true),
    replicas: whole('Pods, without autoscaling.', 2, 0),
    resources: resources(memory),
    autoscaling: section('How many pods the autoscaler may make.', {
      minReplicas: whole('The fewest.', 2),
      maxReplicas: whole('The most; of roles that scale by lag no more than `kafka.partitions`.', 6),
    }),
    kafka: section('Of a Kafka user of this role’s own; `sluice topics --acls` prints the rights.', {
      username: text('The name, or the client id; without it the common one.'),
      existingSecret: secretName(
        'The secret with the role’s password or certificate, with the same keys as the common one.',
      ),
    }),
    env: objects(
      'Variables of this role alone, as Kubernetes has them in `env`: such as keys that `proxy.upstreams` or secrets that `notify.subscriptions` name.',
    ),
    envFrom: objects('Config maps and secrets whose keys are variables, as in `envFrom`.'),
    pod: set(
      'What is set here replaces what `pod` says for all.',
      {},
      {
        type: 'object',
        additionalProperties: false,
        properties: placement,
      },
    ),
    egress: objects('Rules of the role’s NetworkPolicy for what else it reaches, as in `egress`.'),
    serviceAccountAnnotations: texts('Annotations of its service account, such as a cloud’s role.'),
    ...(isDoor
      ? {
          clients: objects(
            'Peers that may reach it beside pods with the label `sluice-<role>-client: "true"`, such as an ingress controller.',
          ),
          service: section('The service in front of its pods.', {
            type: choice('`LoadBalancer` reaches beyond the cluster: configure an identity first.', [
              'ClusterIP',
              'LoadBalancer',
              'NodePort',
            ]),
            port: whole('The port.', 80, 1, 65_535),
            annotations: texts('Annotations, such as those of a load balancer.'),
          }),
        }
      : {}),
  });

export const values: Members = {
  nameOverride: text('Replaces the chart’s name in names and labels.'),
  fullnameOverride: text('Replaces the beginning of all names, which is the release’s name.'),
  commonLabels: texts('Labels of everything.'),

  mode: choice(
    '`embedded`: one pod with the log on a volume, for a first try and for small use. `kafka`: each role its own deployment, on a Kafka, a schema registry and a PostgreSQL that you bring.',
    ['embedded', 'kafka'],
  ),

  image: section('The image of all pods. None is published yet: docs/install.md says how it is built.', {
    repository: text('Where it is, without the tag. Must be set.'),
    tag: text('The tag; without it the chart’s `appVersion`.'),
    digest: text('The digest, which goes before the tag.', '', { pattern: '^(sha256:[0-9a-f]{64})?$' }),
    pullPolicy: choice('When it is pulled.', ['IfNotPresent', 'Always', 'Never']),
    pullSecrets: set('Names of secrets for the image’s registry.', [], { type: 'array', items: kubernetesName }),
  }),

  configuration: section('What `sluice config apply` puts in force.', {
    content: text('The text of `sluice.yaml`: `--set-file configuration.content=sluice.yaml`. Without it the sample.'),
    files: texts('Files beside it in `/etc/sluice`, by their names: `policies.cedar`, for example.'),
    existingConfigMap: secretName('A config map with `sluice.yaml` and the files beside it, instead of the two.'),
    apply: flag('Whether a job applies it, in the mode `kafka`. Without it, run `sluice config apply` yourself.', true),
    resources: resources('256Mi'),
  }),

  embedded: section('The one pod of the mode `embedded`.', {
    persistence: section('The volume of log, ledger and keys. It outlives the release.', {
      enabled: flag('Without it all is gone with the pod.', true),
      size: set('How large it is: docs/operations.md has what a run takes.', '10Gi', amount),
      storageClass: text('Its storage class; without one the cluster’s default.'),
      existingClaim: secretName('A claim of your own instead.'),
    }),
    resources: resources('1Gi'),
    env: objects('Variables of the pod, as in `env`.'),
    envFrom: objects('Config maps and secrets whose keys are variables, as in `envFrom`.'),
  }),

  kafka: section('The Kafka of the mode `kafka`.', {
    brokers: set('Addresses, `host:port`.', [], {
      type: 'array',
      items: { type: 'string', pattern: '^[^\\s,]+:[0-9]{1,5}$' },
    }),
    prefix: text('Put before topics, groups and the rest: several releases may share a Kafka.', '', {
      pattern: '^[a-zA-Z0-9._-]*$',
    }),
    partitions: whole('Partitions of topics that are created.', 6),
    replication: whole('Replicas of topics that are created.', 3),
    existingSecret: secretName('The secret with what `sasl` and `tls` need.'),
    secretKeys: section('The names of the keys in that secret.', {
      password: secretKey('The SASL password.', 'password'),
      clientSecret: secretKey('The secret of the OAuth client.', 'client-secret'),
      authority: secretKey('The certificates of the authorities.', 'ca.crt'),
      certificate: secretKey('The client’s certificate.', 'tls.crt'),
      key: secretKey('Its private key.', 'tls.key'),
    }),
    sasl: section('How services say who they are.', {
      mechanism: choice('The mechanism.', ['none', 'plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer']),
      username: text('For `plain` and `scram-…`.'),
      oauth: section('For `oauthbearer`.', {
        tokenUrl: text('The token endpoint.'),
        clientId: text('The client.'),
        scope: text('The scope, if the server wants one.'),
      }),
    }),
    tls: section('TLS to the brokers.', {
      enabled: flag('Whether they are spoken to by TLS.', false),
      ownAuthority: flag('The authorities are in the secret, else the system’s are trusted.', false),
      clientCertificate: flag('The client’s certificate is in the secret.', false),
    }),
  }),

  registry: section('The schema registry of the mode `kafka`, with Confluent’s API.', {
    url: text('Its address, without user and password. Apicurio’s ends with `/apis/ccompat/v7`.', '', {
      pattern: '^(https?://[^\\s@]+)?$',
    }),
    username: text('If it asks.'),
    existingSecret: secretName('The secret with the password.'),
    secretKeys: section('The name of the key in it.', { password: secretKey('The password.', 'password') }),
  }),

  database: section('The PostgreSQL of the mode `kafka`.', {
    existingSecret: secretName('The secret with its address; without a name `<release>-database`.'),
    secretKeys: section('The names of the keys in it.', {
      url: secretKey('The address, `postgres://…`.', 'url'),
      ledger: text('Addresses of databases that hold claims beside it, for `SLUICE_LEDGER`; by default none.', '', {
        pattern: '^[-._a-zA-Z0-9]*$',
      }),
    }),
    port: whole('Its port, for the NetworkPolicies: the address is in the secret.', 5432, 1, 65_535),
  }),

  keys: section('The keys that services sign with, in the mode `kafka`. Each role mounts its own alone.', {
    existingSecretPrefix: text(
      'The secrets are this and the role, each with what `sluice keys export` printed for it as `keys.json`; without it `<release>-keys-`. The job has that of `config`.',
    ),
  }),

  localSecret: section('What deciding, lists and the audit over HTTP need where no identity is configured.', {
    existingSecret: secretName(
      'The secret with it, for gateway and MCP server. The mode `embedded` makes one of its own.',
    ),
    secretKeys: section('The name of the key in it.', { secret: secretKey('32 characters or more.', 'secret') }),
  }),

  sealingKey: section('What seals the conversations that the proxy keeps.', {
    existingSecret: secretName('The secret with it.'),
    secretKeys: section('The name of the key in it.', { key: secretKey('32 bytes in base64.', 'key') }),
  }),

  content: section('Where images, files and long results are, and what seals them: docs/content.md.', {
    bucket: text(
      'A bucket of an S3-compatible service, such as `https://s3.example.com/bucket/folder`. Without it the database, or the volume of the mode embedded.',
      '',
      { pattern: '^(https?://.+)?$' },
    ),
    credentialsSecret: secretName(
      'The secret whose keys are the variables `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_REGION`.',
    ),
    existingSecret: secretName('The secret with the keys that seal content. Without it content is kept in the clear.'),
    secretKeys: section('The name of the key in it.', {
      keys: secretKey('Keys of 32 bytes in base64, one a line: the first seals, all open.', 'keys'),
    }),
  }),

  model: section('The model’s key, for agent and executor.', {
    existingSecret: secretName('The secret with it.'),
    variable: text('The variable that the configuration reads it from, such as `ANTHROPIC_API_KEY`.', '', {
      pattern: '^([A-Z][A-Z0-9_]*)?$',
    }),
    secretKeys: section('The name of the key in it.', { key: secretKey('The model’s key.', 'key') }),
  }),

  mounts: set(
    'Folders of your own: tools, knowledge, keys. docs/operations.md says which components need which. Each has `name`, `path`, `components` (roles, `configuration`, `embedded`), one of `configMap`, `secret` and `claim`, and `writable`.',
    [],
    {
      type: 'array',
      items: strict(
        {
          name: { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]{0,50}[a-z0-9])?$' },
          path: { type: 'string', pattern: '^/' },
          components: {
            type: 'array',
            minItems: 1,
            items: {
              enum: [
                ...['filter', 'agent', 'executor', 'audit', 'gateway', 'proxy', 'mcp', 'notifier'],
                ...['configuration', 'embedded'],
              ],
            },
          },
          configMap: kubernetesName,
          secret: kubernetesName,
          claim: kubernetesName,
          writable: { type: 'boolean' },
        },
        ['name', 'path', 'components'],
      ),
    },
  ),

  workspaces: section('The sessions’ files, where tools with a workspace are allowed.', {
    existingClaim: secretName('A claim that all executors may write (`ReadWriteMany`).'),
  }),

  environment: texts('Variables of all pods that are no secrets: docs/operations.md has them.'),
  logLevel: choice('What services log.', ['info', 'fatal', 'error', 'warn', 'debug', 'trace', 'silent']),
  drainSeconds: whole('How long a stop lets running work end. A pod has 20 seconds more.', 10, 0, 3_600),
  traces: section('Spans by OpenTelemetry.', {
    endpoint: text('The collector, such as `http://collector:4318`. Without it there are none.', '', {
      pattern: '^(https?://\\S+)?$',
    }),
  }),

  pod: section('Of all pods.', {
    labels: texts('Labels.'),
    annotations: texts('Annotations.'),
    nodeSelector: texts('Labels of nodes that they may run on.'),
    tolerations: objects('Tolerations.'),
    affinity: object('Affinity.'),
    priorityClassName: text('The priority class.'),
    spread: set(
      'Over what the pods of a role are spread.',
      [{ topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' }],
      placement.spread,
    ),
  }),

  roles: {
    ...section(
      'The roles, in the mode `kafka`. Proxy, gateway and MCP server have services and clients in both modes.',
      {
        filter: role('Decides which tools a turn has.'),
        agent: role('Asks the model.', { memory: '512Mi' }),
        executor: role(
          'Runs tools. Its NetworkPolicy also lets it reach pods with the label `sluice-executor-server: "true"`.',
          { memory: '512Mi' },
        ),
        audit: role('Writes down what happened.'),
        gateway: role('Takes requests over HTTP, and has the console.', { isDoor: true }),
        proxy: role('Stands in front of model APIs.', { memory: '512Mi', isDoor: true }),
        mcp: role('Serves MCP clients.', { isDoor: true }),
        notifier: role('Sends webhooks to what `notify.subscriptions` names.'),
      },
    ),
    alike: 'role',
  },

  serviceAccounts: section('One for each role, without a token and without rights.', {
    create: flag('Whether they are made.', true),
    name: text('One that is there, where none are made; without it `default`.'),
    annotations: texts('Annotations of all.'),
  }),

  ingress: section(
    'An Ingress in front of gateway, proxy and MCP server. It needs an `identity` in the configuration, and lets TLS end there.',
    {
      enabled: flag('Whether there is one. Its controller must be let in: `roles.gateway.clients`.', false),
      className: text('The ingress class.'),
      annotations: texts('Annotations.'),
      hosts: set('Each has `host`, and may have `path` (`/`) and `role` (`gateway`, `proxy`, `mcp`).', [], {
        type: 'array',
        items: strict(
          {
            host: { type: 'string', minLength: 1 },
            path: { type: 'string', pattern: '^/' },
            role: { enum: ['gateway', 'proxy', 'mcp'] },
          },
          ['host'],
        ),
      }),
      tls: set('Each has `secretName` and `hosts`.', [], {
        type: 'array',
        items: strict({ secretName: kubernetesName, hosts: { type: 'array', items: { type: 'string' } } }, [
          'secretName',
          'hosts',
        ]),
      }),
    },
  ),

  autoscaling: section('By how much work waits. Gateway, proxy and MCP server scale by processor time.', {
    enabled: flag('Whether there is any.', false),
    lag: section('Of filter, agent, executor, audit and notifier.', {
      source: choice(
        '`keda`: ScaledObjects of KEDA, which asks Prometheus itself. `external`: HorizontalPodAutoscalers on the external metric `sluice_lag_records`, which a metrics adapter of yours gives by `namespace` and `consumer_group`.',
        ['keda', 'external'],
      ),
      prometheus: text('Where KEDA asks Prometheus, such as `http://prometheus.monitoring:9090`.', '', {
        pattern: '^(https?://\\S+)?$',
      }),
      records: whole('Records received and not finished, for each pod.', 100),
    }),
    cpu: set('Processor time for each pod of the others.', '500m', amount),
  }),

  podDisruptionBudgets: section('How many pods of a role may be away when nodes are drained.', {
    enabled: flag('Whether there are any.', true),
    maxUnavailable: set('How many, or a share such as `25%`.', 1, {
      type: ['integer', 'string'],
      pattern: '^[0-9]+%$',
      minimum: 0,
    }),
  }),

  networkPolicies: section('All pods of the release let in and out what is written here, and nothing else.', {
    enabled: flag('Whether there are any. They take a network plugin that enforces them.', true),
    dns: objects('Who answers for names.', [
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } },
    ]),
    kafka: objects(
      'Where the brokers are, at the ports in `kafka.brokers`. Beyond the cluster: `[{ ipBlock: { cidr: 10.1.2.0/24 } }]`.',
      anyNamespace,
    ),
    registry: objects('Where the registry is, at the port in its address.', anyNamespace),
    database: objects('Where PostgreSQL is, at `database.port`.', anyNamespace),
    traces: objects('Where the collector is, at the port in its address.', anyNamespace),
    web: section('Public addresses, for all but the audit: models, identity providers, tools, receivers of webhooks.', {
      enabled: flag('Whether they are reached.', true),
      ports: set('At which ports.', [443, 80], {
        type: 'array',
        minItems: 1,
        items: { type: 'integer', minimum: 1, maximum: 65_535 },
      }),
    }),
    tools: objects('What tools reach beside that, for the executor and the job: rules as in `egress`.'),
    metricsClients: objects('Peers that may read health and metrics; without any everybody in the cluster.'),
  }),

  monitoring: section('For Prometheus and Grafana.', {
    scrapeAnnotations: flag(
      'Annotations `prometheus.io/scrape` on the pods, for a Prometheus without the operator.',
      false,
    ),
    podMonitor: section('A PodMonitor for the Prometheus operator.', {
      enabled: flag('Whether there is one.', false),
      labels: texts('Labels by which a Prometheus selects it.'),
      interval: text('How often pods are asked.', '15s', { pattern: '^[0-9]+(ms|s|m)$' }),
    }),
    rules: section('A PrometheusRule with the alerts: docs/runbooks.md.', {
      enabled: flag('Whether there is one.', false),
      labels: texts('Labels by which a Prometheus selects it.'),
    }),
    dashboards: section('The dashboards, a config map each, for the sidecar of Grafana.', {
      enabled: flag('Whether they are there.', false),
      labels: texts('Labels by which the sidecar selects them.', { grafana_dashboard: '1' }),
      annotations: texts('Annotations, such as the folder.'),
    }),
  }),

  tests: section(
    'What `helm test` does: it asks a question, or, in the mode `embedded`, looks whether the pod is ready.',
    {
      enabled: flag('Whether there is a test.', true),
      question: text('The question.', 'Which countries border Switzerland?'),
      groups: text('Groups that it may use.', '*'),
      existingSecret: secretName('The secret with a credential, where an identity is configured.'),
      secretKeys: section('The name of the key in it.', { token: secretKey('The credential.', 'token') }),
    },
  ),
};
