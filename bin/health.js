'use strict';
// `verbatim health`, for containers: it runs every few seconds, so it loads two files only, which are plain JavaScript.

const http = require('node:http');
const { findRunningService } = require('./running-service.js');

const TIMEOUT_MS = 5_000;
const USAGE = `Usage: verbatim health [--ready]

Asks the service at HOST and PORT (default: where the one of this folder listens, else 127.0.0.1:8080) whether it runs:
GET /healthz.

  --ready  whether it can do its work: GET /readyz

Exit codes: 0 yes, 1 no, 2 wrong use
`;

/**
 * Asks the service on this machine; resolves with the exit code. Prints the reason when the answer is no.
 * @param args  the words after `health`
 */
async function runHealth(args, { env = process.env, stdout = process.stdout, stderr = process.stderr } = {}) {
  if (args.some((word) => word === '--help' || word === '-h')) {
    stdout.write(USAGE);
    return 0;
  }
  if (args.some((word) => word !== '--ready')) {
    stderr.write(USAGE);
    return 2;
  }
  const address = addressOf(env);
  const reason = await findFault(address, args.includes('--ready') ? '/readyz' : '/healthz');
  if (reason !== null) stderr.write(`verbatim: ${address.host}:${address.port} ${reason}\n`);
  return reason === null ? 0 : 1;
}

function addressOf(env) {
  const running = env.HOST || env.PORT ? null : findRunningService(env);
  if (!running) return { host: hostOf(env.HOST), port: Number(env.PORT || 8080) };
  const { hostname, port } = new URL(running.url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80) };
}

/** A service that listens on all addresses is asked at the loopback address. */
function hostOf(host) {
  if (!host || host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

/** Null when the answer is a 2xx. */
function findFault({ host, port }, path) {
  return new Promise((resolve) => {
    const request = http.get({ host, port, path, agent: false, timeout: TIMEOUT_MS }, (answer) => {
      answer.resume();
      const { statusCode } = answer;
      resolve(statusCode >= 200 && statusCode < 300 ? null : `answered ${statusCode}`);
    });
    request.once('timeout', () => request.destroy(new Error(`no answer in ${TIMEOUT_MS / 1000} s`)));
    request.once('error', (error) => resolve(`does not answer: ${error.code ?? error.message}`));
  });
}

module.exports = { runHealth };
