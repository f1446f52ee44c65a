'use strict';
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');

/** What a service reads of the project beside its modules: fonts, models, the console, pages, migrations. */
const READ = [
  ...['assets', 'console', 'docs', 'sdk/src', 'src', 'bin/entry-points.json', 'package.json', 'tsconfig.json'],
  ...['bench/README.md', 'sdk/README.md', 'sdk/package.json', 'sdk/python/README.md'],
];
const HASH_LENGTH = 16;
const MODELS = path.join('assets', 'models', path.sep);

/**
 * The files of the project that a service needs, as paths from its folder, sorted.
 * @returns  `sources`: what the bundle is made from; `read`: what the service reads
 */
function listFiles(root) {
  const pages = fs.readdirSync(root).filter((name) => name.endsWith('.md'));
  const all = [...READ, ...pages].flatMap((name) => filesIn(root, name)).sort();
  const isBundled = (file) => file.startsWith(path.join('src', path.sep)) && file.endsWith('.ts');
  const isSource = (file) => isBundled(file) || file.startsWith(path.join('sdk', 'src', path.sep));
  return {
    sources: [...all.filter(isSource), path.join('bin', 'entry-points.json'), 'package.json'],
    read: all.filter((file) => !isBundled(file)),
  };
}

/** Without tests, which images do not have. */
function filesIn(root, name) {
  const stat = fs.statSync(path.join(root, name), { throwIfNoEntry: false });
  if (!stat) return [];
  if (!stat.isDirectory()) return /\.test\.tsx?$/.test(name) ? [] : [name];
  return fs.readdirSync(path.join(root, name)).flatMap((child) => filesIn(root, path.join(name, child)));
}

/** Of names and contents; of a model, its size: it has hundreds of megabytes, and its name says its version. */
function hashFiles(root, files) {
  const hash = createHash('sha256');
  for (const file of files) {
    const full = path.join(root, file);
    const content = file.startsWith(MODELS) ? String(fs.statSync(full).size) : fs.readFileSync(full);
    hash.update(`${file}\n${content.length}\n`).update(content);
  }
  return hash.digest('hex').slice(0, HASH_LENGTH);
}

function hashText(text) {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH);
}

/** Copies the files, which an editor may write in place; models are linked. */
function copyFiles(root, files, to) {
  for (const file of files) {
    const [from, copy] = [path.join(root, file), path.join(to, file)];
    fs.mkdirSync(path.dirname(copy), { recursive: true });
    if (file.startsWith(MODELS)) linkOrCopy(from, copy);
    else fs.copyFileSync(from, copy, fs.constants.COPYFILE_FICLONE);
  }
}

/** A second name of the file takes no space; not every file system, and not every owner, allows it. */
function linkOrCopy(from, to) {
  try {
    fs.linkSync(from, to);
  } catch (error) {
    if (!['EXDEV', 'EPERM', 'EACCES', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP'].includes(error.code)) throw error;
    fs.copyFileSync(from, to, fs.constants.COPYFILE_FICLONE);
  }
}

/**
 * Whether the copies have the sizes of the files. After a power failure they may be cut: making 500 files durable would
 * take seconds on a busy disk.
 */
function isWhole(root, files, copy) {
  const sizeOf = (folder, file) => fs.statSync(path.join(folder, file), { throwIfNoEntry: false })?.size;
  return files.every((file) => sizeOf(root, file) === sizeOf(copy, file));
}

module.exports = { copyFiles, hashFiles, hashText, isWhole, linkOrCopy, listFiles };
