'use strict';
const { spawn } = require('node:child_process');

const TICK_MS = 1_000;
const MAX_CHARACTERS = 1_500;

/**
 * Runs a program that may take a while, with a line on the terminal that says what for and how long already.
 * Its output is shown only when it fails.
 * @param label  says what happens, as in "installing ffmpeg"
 */
async function step(label, command, args, options = {}) {
  const progress = showProgress(label);
  const { code, output } = await capture(command, args, options);
  progress.end(code === 0);
  if (code !== 0) throw new Error(`${label} did not work:\n${withoutHosts(output)}`);
}

/** Runs a program silently: `{ code, output }`, the beginning and the end of what it wrote; code 127 when it cannot be run at all. */
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

/** Package mirrors may be private; their names have no place in a log that is passed around. */
function withoutHosts(text) {
  return text.replace(/\b([a-z]+:\/\/)[^\s/'"]+/g, '$1…').trim();
}

module.exports = { step, capture };
