'use strict';
const { spawn } = require('node:child_process');

const TICK_MS = 1_000;
const MAX_CHARACTERS = 1_500;
// npm and apt give up a server that is silent, and none that drips.
const MAX_MINUTES = 60;

/**
 * Runs a program that may take long, and shows a line with its purpose and the elapsed time on the terminal.
 * The program's output is shown only if it fails. With VERBATIM_INSTALL=off nothing runs: an image holds all that it
 * needs.
 * @param label  the purpose, such as "installing ffmpeg"
 * @throws Error  when it fails, when a signal ends it, and after an hour
 */
async function step(label, command, args, options = {}) {
  if (process.env.VERBATIM_INSTALL === 'off') throw new Error(`${label} is not allowed here (VERBATIM_INSTALL=off)`);
  const progress = showProgress(label);
  const { code, output } = await capture(command, args, { timeout: MAX_MINUTES * 60_000, ...options });
  progress.end(code === 0);
  if (code === null) throw new Error(`${label} was stopped, by a signal or after ${MAX_MINUTES} minutes.`);
  if (code !== 0) throw new Error(`${label} did not work:\n${withoutHosts(output)}`);
}

/**
 * Runs a program silently. Resolves with `{ code, output }`: beginning and end of its output; code 127 if it cannot be
 * started, null if a signal ended it.
 */
function capture(command, args, options) {
  return new Promise((resolve) => {
    let [head, tail] = ['', ''];
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    const keep = (chunk) => {
      if (head.length < MAX_CHARACTERS) head += chunk;
      else tail = (tail + chunk).slice(-MAX_CHARACTERS);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', (error) => resolve({ code: 127, output: error.message }));
    child.once('close', (code) => resolve({ code, output: tail ? `${head}\n…\n${tail}` : head }));
  });
}

function showProgress(label) {
  const startedMs = Date.now();
  const seconds = () => Math.round((Date.now() - startedMs) / 1000);
  const isTerminal = process.stderr.isTTY;
  process.stderr.write(`verbatim: ${label} …${isTerminal ? '' : '\n'}`);
  const ticker = setInterval(() => {
    if (isTerminal) process.stderr.write(`\rverbatim: ${label} … ${seconds()} s`);
  }, TICK_MS);
  return {
    end(isDone) {
      clearInterval(ticker);
      process.stderr.write(
        `${isTerminal ? '\r' : ''}verbatim: ${label}: ${isDone ? 'done' : 'failed'} (${seconds()} s)\n`,
      );
    },
  };
}

/** Removes the names of package mirrors: they may be private, and logs are passed on. */
function withoutHosts(text) {
  return text.replace(/\b([a-z]+:\/\/)[^\s/'"]+/g, '$1…').trim();
}

module.exports = { step, capture };
