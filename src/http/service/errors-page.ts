import { ERROR_MEANING, ERROR_STATUS, type ErrorType } from '../api-error.ts';

/**
 * The page at /docs/errors as HTML: a section for each error, with the type as its id.
 * `error.docs` of an answer leads there.
 */
export function writeErrorsPage(): string {
  const types = Object.keys(ERROR_STATUS) as ErrorType[];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Verbatim: errors</title>
<link rel="stylesheet" href="/docs/errors.css">
<link rel="icon" href="data:,">
</head>
<body>
<h1>Errors</h1>
<p>The message of an answer says what to do. Programs should decide by <code>error.type</code>. Give the operator of the
service the <code>request_id</code> to find the request in the log. <a href="/docs">API reference</a></p>
${types.map(writeSection).join('\n')}
</body>
</html>
`;
}

function writeSection(type: ErrorType): string {
  const meaning = ERROR_MEANING[type].replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<section id="${type}">\n<h2>${ERROR_STATUS[type]} <code>${type}</code></h2>\n<p>${meaning}.</p>\n</section>`;
}
