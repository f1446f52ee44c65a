'use strict';
const { spawn } = require('node:child_process');
const os = require('node:os');
const path = require('node:path');

const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Runs Node programs one after the other with the terminal's input and output; stops when a signal ends one of them.
 * The last one takes the place of this process, where Node can do that and no program failed.
 * Resolves with the first exit code that is not 0, else with 0.
 */
async function runAll(node, programs, { root, env }) {
  let failure = 0;
  for (const [index, [file, ...args]] of programs.entries()) {
    const command = [path.resolve(root, file), ...args];
    const isLast = index === programs.length - 1;
    if (isLast && failure === 0) process.execve?.(node, [node, ...command], env);
    const { code, isInterrupted } = await run(node, command, env);
    failure ||= code;
    if (isInterrupted) break;
  }
  return failure;
}

/**
 * Forwards signals to the program, which decides when to end. Ctrl-C on a terminal also goes to the program directly,
 * so the program receives it twice.
 */
function run(node, args, env) {
  return new Promise((resolve, reject) => {
    // The IPC channel closes when this process is killed, which makes the service stop.
    const child = spawn(node, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env });
    let isInterrupted = false;
    const passOn = (signal) => {
      isInterrupted = true;
      child.kill(signal);
    };
    for (const signal of PASSED_ON) process.on(signal, passOn);
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      for (const name of PASSED_ON) process.off(name, passOn);
      resolve({ code: code ?? 128 + os.constants.signals[signal], isInterrupted: isInterrupted || signal !== null });
    });
  });
}

module.exports = { runAll };
