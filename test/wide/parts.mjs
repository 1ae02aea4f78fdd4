/**
 * The parts of `npm run test:wide`: what needs minutes. Run a part after a change to what it covers. Each takes at
 * most 20 minutes on two quiet cores. A part is a folder beside this file: a script `main.ts`, or test files of the
 * Jest project `wide`.
 */
export const parts = {
  agentdojo:
    'AgentDojo in front of the real loop, with a model that obeys each injection: what is stopped, asked and run, and which tasks are done',
  chart:
    'the Helm chart: three files of values against golden files and schemas, what it refuses, the main job from its pods',
  clients:
    'every case by both halves of the Python client, its types and form, llm-comply on the proxy, a page that runs',
  conformance: 'every scenario of the MCP conformance suite, in both revisions, of the server and of the hub',
  console: 'every page of the console in a browser: its main path, themes, a phone, keyboard, hostile texts, sign-in',
  content: 'the content store in a bucket of an S3-compatible server, and on a disk that is full',
  differential:
    'six public MCP servers, directly and through Sluice: every tool, prompt and resource, equal but for a written list',
  docs: 'the site of docs/: search without a server, dark, a phone, accessibility, links and anchors, Markdown, llms.txt',
  doors: 'llm-comply, the Python clients of OpenAI and Anthropic and the AI SDK at the doors of the gateway',
  frameworks:
    'the programs of docs/bring-your-agent.md as they stand: LangGraph, LangChain, OpenAI Agents, pydantic-ai, CrewAI, the AI SDK',
  histories: 'the bus contract on Kafka with many histories of work, faults and commands',
  history: 'seeds 100,000 runs, says how long it took, and has audit and replay look at them',
  image:
    'the image on Docker: what it holds, without rights and on a root that cannot be written, the console, a stop and a start',
  kills:
    'ends a process with kill -9 at each record of a run by a plan, of agents side by side, in a backup, while Slack is asked or a mail is sent, while a form of an MCP server or a client’s tool waits, while 64 runs come up to a total and a budget, while calls without a model are made, while a schedule or a hook starts runs, around a decision for a person, and with webhooks',
  mutants: 'changes single expressions of doors and pipeline, and names the changes that no nearby test notices',
  openapi: 'public OpenAPI documents, such as GitHub’s and Kubernetes’: how many operations are tools, and how fast',
  packages:
    'the npm packages in empty folders, on Node 22 and 24 with npm 11 and 12: the sample, a folder by init, Cedar',
  release:
    'a release rehearsed into a folder: every artefact, its version, its checksums, its signature; needs Docker, Go, minisign',
  servers:
    'the public MCP server of everything: the same to a client directly and through Sluice, embedded and on Kafka; subscriptions',
  sessions:
    'a thousand sessions on Kafka, an executor killed and an agent paused on the way; MCP sessions at two instances, killed or cut off',
  tampering: 'changes, drops and moves each record that real runs left, and looks what the audit says',
  versions: 'this version and one of the history: a data folder, and services side by side, forth and back',
};
