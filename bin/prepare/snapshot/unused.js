'use strict';
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

/** The last ones stay: the processes of another container, or hidden ones, are not seen. */
const KEPT = 3;
const HOUR_MS = 3_600_000;

/**
 * Removes the snapshots that no process runs from, but the last three, and packages without a snapshot. The command
 * lines of processes name the files that they run, so that one that was killed keeps nothing.
 * @param folder  with `packages-<hash>/service-<hash>/`
 */
function removeUnused(folder, { running = commandLines(), nowMs = Date.now() } = {}) {
  const isRun = (place) => running.some((line) => line.includes(`${place}${path.sep}`));
  const inPackages = (name) => namesIn(path.join(folder, name)).map((child) => path.join(name, child));
  const packages = namesIn(folder).filter((name) => /^packages-[0-9a-f]+$/.test(name));
  const places = packages.flatMap(inPackages);
  const services = places.filter((place) => /service-[0-9a-f]+$/.test(place));
  // A process may just be making something there.
  const old = [...namesIn(folder), ...places].filter((place) => nowMs - modifiedMs(folder, place) > HOUR_MS);
  const byAge = services.toSorted((a, b) => modifiedMs(folder, b) - modifiedMs(folder, a));
  for (const place of byAge.slice(KEPT)) if (!isRun(place)) removeFolder(path.join(folder, place));
  for (const place of old) {
    const isUnfinished = /\.\d+$/.test(place);
    const isEmpty = packages.includes(place) && !inPackages(place).some((one) => services.includes(one));
    if (isUnfinished || (isEmpty && !isRun(place))) removeFolder(path.join(folder, place));
  }
}

/** Gives it another name first, so that nobody starts from what is half removed. */
function removeFolder(folder) {
  const removed = `${folder}.removed.${process.pid}`;
  try {
    fs.renameSync(folder, removed);
    fs.rmSync(removed, { recursive: true, force: true });
  } catch {
    // Another process removes it, or it belongs to somebody else.
  }
}

/** Of all processes that this user sees. */
function commandLines() {
  if (process.platform !== 'linux') return execFileSync('ps', ['-axww', '-o', 'args=']).toString().split('\n');
  const processes = namesIn('/proc').filter((name) => /^\d+$/.test(name));
  return processes.map((pid) => read(`/proc/${pid}/cmdline`));
}

/** Empty when it has ended meanwhile. */
function read(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function namesIn(folder) {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
}

/** 0 for what another process has just removed or renamed. */
function modifiedMs(folder, place) {
  return fs.statSync(path.join(folder, place), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

module.exports = { removeFolder, removeUnused };
