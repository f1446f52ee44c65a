/** A page of the documentation: its file in the project, the need that it answers, and its description. */
export type Entry = {
  /** Path from the project's root; null for the API reference, which is made from the routes. */
  file: string | null;
  /** Address under /docs/. */
  name: string;
  /** In the sidebar. */
  label: string;
  /** Completes "I want to …"; also the description of the page. */
  need: string;
};

export type Group = { title: string; entries: Entry[] };

/** The name of the API reference among the pages. */
export const REFERENCE_NAME = 'api';

/**
 * All pages but the decisions, in the order of the sidebar. `docs/README.md`, the sidebar and the search follow
 * this list.
 */
export const CONTENTS: Group[] = [
  group('Start', [
    page('', 'Overview', 'find a page', 'docs/README.md'),
    page('ten-minutes', 'Ten minutes', 'try it in ten minutes'),
    page('install', 'Install', 'install it as a package, an image or from a clone'),
    page('why', 'Why self-host', 'decide whether to run transcription on my own machines'),
    page('comparison', 'Comparison', 'compare it with other servers'),
    page('migrating', 'Migrate', 'come from OpenAI, AssemblyAI or Deepgram'),
  ]),
  group('Transcribe', [
    page('clients', 'Clients', 'call it from curl, TypeScript, Python or a shell'),
    page('transcription', 'Transcription', 'upload audio and get text, captions and the price'),
    page('tracks', 'Tracks and channels', 'choose the track or the channels of a file'),
    page('captions', 'Captions', 'get subtitles'),
    page('failures', 'Failures', 'know what a failed job means'),
    page('options', 'Options', 'look up a field of a request'),
    page('audio-url', 'Audio by URL', 'let the service fetch the audio'),
    page('jobs', 'Jobs', 'follow, cancel, erase, edit and retry jobs'),
    page('sharing', 'Sharing', 'show a transcript to somebody without a key'),
    page('watch', 'A watched folder', 'transcribe each file that arrives in a folder'),
    page('live', 'Live transcription', 'transcribe while somebody speaks'),
    page('openai', "OpenAI's API", "use clients of OpenAI's API"),
    page('integrations', 'Other programs', 'use it from Open WebUI, n8n or Home Assistant'),
    page('speakers', 'Speakers', 'know who says what'),
    page('search', 'Search', 'find transcripts by their words'),
    page('cli', 'Command line', 'use the command line'),
    page('mcp', 'AI assistants', 'let an AI assistant use it'),
    page('sdk-typescript', 'TypeScript', 'write TypeScript or JavaScript', 'sdk/README.md'),
    page('sdk-python', 'Python', 'write Python', 'sdk/python/README.md'),
  ]),
  group('Webhooks', [
    page('webhooks', 'Webhooks', 'receive and verify webhooks, and recover what was missed'),
    page('webhook-payloads', 'Content of a delivery', 'look up the headers and the body of a delivery'),
    page('webhook-settings', 'Settings of a webhook', 'change a webhook'),
    page('delivery-log', 'Delivery log', 'see what was sent, and send it again'),
    page('event-types', 'Event types', 'look up an event'),
    page('listen', 'On my own machine', 'receive events on my own machine'),
    page('signatures', 'Signatures', 'find out why a signature does not verify'),
    page('signature-verdicts', 'Verdicts', 'look up a verdict about a signature'),
    page('stream', 'Event stream', 'follow an account without webhooks'),
  ]),
  group('Accounts', [
    page('people', 'A team', 'share an account with a team'),
    page('keys', 'API keys', 'make keys with fewer rights'),
    page('scopes', 'Scopes', 'look up what a scope permits'),
    page('credits', 'Credits to money', 'turn credits into invoices'),
    page('usage', 'Usage and ledger', 'see usage and the ledger'),
    page('limits', 'Limits', 'know the limits and their answers'),
  ]),
  group('Operate', [
    page('production', 'Go to production', 'go to production'),
    page('hardware', 'Hardware', 'choose a machine'),
    page('gpu', 'GPU', 'transcribe on a GPU'),
    page('engines', 'Engines and models', 'choose a speech model'),
    page('speech-servers', 'Speech servers', 'transcribe with a server that I have'),
    page('operations', 'Operations', 'install, back up and upgrade'),
    page('restore', 'Restore at 3 a.m.', 'restore a backup'),
    page('monitoring', 'Monitoring', 'monitor the service'),
    page('network', 'Network', 'put a proxy or a firewall around it'),
    page('sandbox', 'Sandbox', 'know how the files of strangers are opened'),
    page('nodes', 'Several nodes', 'run several nodes'),
    page('container', 'Containers', 'run it in containers'),
    page('kubernetes', 'Kubernetes', 'run it on Kubernetes'),
    page('scaling', 'Scaling', 'plan capacity and add nodes'),
    page('configuration', 'Settings', 'change a setting'),
    page('security', 'Security', 'know what is protected and what is not', 'SECURITY.md'),
  ]),
  group('Reference', [
    page(REFERENCE_NAME, 'API reference', 'look up and try an endpoint', null),
    page('errors', 'Errors', 'understand an error'),
    page('warnings', 'Warnings', 'understand a warning of a job'),
    page('states', 'States', 'look up the states of jobs'),
    page('proof', 'Proof', 'know how what it promises is judged'),
    page('versions', 'Versions', 'read the documentation of another version'),
    page('changelog', 'Changes', 'see what has changed', 'CHANGELOG.md'),
  ]),
  group('Change it', [
    page('architecture', 'Architecture', 'know how it is built', 'ARCHITECTURE.md'),
    page('contributing', 'Contributing', 'add a route, a setting, an engine or a view', 'CONTRIBUTING.md'),
    page('add-engine', 'Add an engine', 'connect another speech engine'),
    page('benchmarks', 'Figures', 'see figures', 'bench/README.md'),
    page('decisions', 'Decisions', 'know why it is built so', 'docs/decisions/README.md'),
  ]),
];

function group(title: string, entries: Entry[]): Group {
  return { title, entries };
}

function page(name: string, label: string, need: string, file: string | null = `docs/${name}.md`): Entry {
  return { file, name, label, need };
}
