import type { CommandRow } from './command.ts';

/** The commands that need nothing but a running service, in the order of the help. */
export const COMMANDS: readonly CommandRow[] = [
  {
    name: 'transcribe',
    group: 'Transcribe:',
    summary: 'transcribe files, URLs or standard input',
    load: () => import('./commands/transcription/transcribe.ts'),
  },
  {
    name: 'live',
    group: 'Transcribe:',
    summary: 'transcribe the microphone or a file in real time',
    load: () => import('./live/live.ts'),
  },
  {
    name: 'jobs',
    group: 'Transcribe:',
    summary: 'list, follow, cancel and delete jobs; get transcripts',
    load: () => import('./commands/transcription/jobs.ts'),
  },
  {
    name: 'search',
    group: 'Transcribe:',
    summary: 'find transcripts by their words',
    load: () => import('./commands/transcription/search.ts'),
  },
  {
    name: 'webhooks',
    group: 'Webhooks:',
    summary: 'manage webhooks and their deliveries',
    load: () => import('./commands/webhooks/webhooks.ts'),
  },
  {
    name: 'events',
    group: 'Webhooks:',
    summary: 'list, show and resend events',
    load: () => import('./commands/webhooks/events.ts'),
  },
  {
    name: 'trigger',
    group: 'Webhooks:',
    summary: 'send the example of an event type',
    load: () => import('./commands/webhooks/trigger.ts'),
  },
  {
    name: 'signature',
    group: 'Webhooks:',
    summary: 'sign, verify and explain deliveries',
    load: () => import('./commands/webhooks/signature.ts'),
  },
  {
    name: 'listen',
    group: 'Webhooks:',
    summary: 'forward events to a server on this machine',
    load: () => import('./listen/listen.ts'),
  },
  {
    name: 'init',
    group: 'Account:',
    summary: 'sign in and write a profile',
    load: () => import('./commands/account/init.ts'),
  },
  {
    name: 'whoami',
    group: 'Account:',
    summary: 'show the account, its limits and the scopes of the key',
    load: () => import('./commands/account/whoami.ts'),
  },
  {
    name: 'balance',
    group: 'Account:',
    summary: 'show the credits',
    load: () => import('./commands/account/balance.ts'),
  },
  {
    name: 'ledger',
    group: 'Account:',
    summary: 'list the changes of the credits',
    load: () => import('./commands/account/ledger.ts'),
  },
  {
    name: 'usage',
    group: 'Account:',
    summary: 'show jobs, lengths and cost per hour, day or month',
    load: () => import('./commands/account/usage.ts'),
  },
  {
    name: 'keys',
    group: 'Account:',
    summary: 'list, create and revoke API keys',
    load: () => import('./commands/account/keys.ts'),
  },
  {
    name: 'open',
    group: 'Account:',
    summary: 'open the console in a browser',
    load: () => import('./commands/account/open.ts'),
  },
  {
    name: 'doctor',
    group: 'Account:',
    summary: 'check the connection, the key, the clock and the webhooks',
    load: () => import('./commands/account/doctor.ts'),
  },
  {
    name: 'completion',
    group: 'Shell:',
    summary: 'print a completion script for bash, zsh, fish or powershell',
    load: () => import('./commands/completion.ts'),
  },
  {
    name: 'mcp',
    group: 'Shell:',
    summary: 'serve the Model Context Protocol on standard input and output',
    load: () => import('./mcp/mcp.ts'),
  },
  {
    name: 'health',
    group: 'Shell:',
    summary: 'check the service on this machine, for containers',
    load: () => import('./commands/health.ts'),
  },
  {
    name: 'accounts',
    group: 'Operate:',
    summary: 'manage accounts and their credits',
    load: () => import('./commands/operator/accounts.ts'),
  },
  {
    name: 'audit',
    group: 'Operate:',
    summary: 'list the changes by operators and keys',
    load: () => import('./commands/operator/audit.ts'),
  },
  {
    name: 'secrets',
    group: 'Operate:',
    summary: 'encrypt all webhook secrets with the first key of SECRETS_KEY',
    load: () => import('./commands/operator/secrets.ts'),
  },
  {
    name: 'settings',
    group: 'Operate:',
    summary: 'show the settings of a running service',
    load: () => import('./commands/operator/settings.ts'),
  },
];
