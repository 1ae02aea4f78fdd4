/**
 * The groups of the site, in their order: each page of docs/ by its name, and the title that navigation shows. Pages
 * that only the site has are `generated`; files outside of docs/ stand with their path from the project's folder.
 */
export const groups = [
  {
    title: 'Start',
    pages: {
      install: 'Install',
      tutorial: 'Tutorial: a desk of your own',
      console: 'The console',
      'which-to-choose': 'Which to choose',
    },
  },
  {
    title: 'Guides',
    pages: {
      groups: 'Groups and states',
      policy: 'Policy on arguments',
      'writing-a-tool': 'Write a tool',
      'mcp-hub': 'Tools of MCP servers',
      content: 'What MCP servers answer: content',
      openapi: 'Tools of an HTTP API (OpenAPI)',
      mcp: 'Sluice in an MCP client',
      upstream: 'Ask from your system',
      clients: 'TypeScript and Python clients',
      doors: 'Clients of OpenAI and Anthropic',
      'bring-your-agent': 'Bring your agent',
      models: 'Models and their wires',
      approvals: 'Approvals',
      notifications: 'Notifications by webhook',
      schedules: 'Runs by a schedule',
      hooks: 'Runs by webhooks of others',
      connections: 'Credentials of tools',
      agents: 'Agents as tools',
      strategies: 'Plans and agents side by side',
      memory: 'Memory of a session',
      discovery: 'Tool discovery and the proxy',
      descriptions: 'Short and long descriptions',
      packs: 'Documents and requirements',
      evaluation: 'Evaluation',
    },
  },
  {
    title: 'Operate',
    pages: {
      operations: 'Run it',
      capacity: 'How large it has to be',
      troubleshooting: 'Troubleshooting',
      security: 'Security',
      'prompt-injection': 'Prompt injection',
      audit: 'Audit',
      attestation: 'Attestation',
      replay: 'Replay and export',
      'dead-letters': 'Dead letters',
      runbooks: 'Alerts and runbooks',
      traces: 'Traces and log lines',
      load: 'A realistic load',
      'mcp-operator': 'For coding agents: ask a running Sluice',
    },
  },
  {
    title: 'Reference',
    pages: {
      configuration: 'Configuration',
      http: 'HTTP API, in words',
      cli: 'Command line',
      errors: 'Error codes',
      metrics: 'Metrics',
      chart: 'Values of the Helm chart',
    },
    generated: { configuration: 'reference/configuration', api: 'reference/api', tools: 'tools' },
  },
  {
    title: 'Project',
    pages: {
      design: 'Design',
      guarantees: 'Guarantees',
      lifecycle: 'The life of a request',
      requirements: 'Requirements',
      benchmarks: 'Benchmarks',
      testing: 'Tests',
      versioning: 'Versions',
      releasing: 'Releasing',
    },
    files: { 'CONTRIBUTING.md': 'Contributing', 'CHANGELOG.md': 'Changes' },
  },
];

/** Pages that are looked up and not read: search leaves them out, and llms.txt has them last. */
export const lookedUp = ['requirements', 'benchmarks', 'testing', 'files/CHANGELOG'];
