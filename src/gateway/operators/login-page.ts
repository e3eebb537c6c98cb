/** The login's page, without a script. */

export interface LoginPage {
  /** Where the page's files are. */
  assets: string;
  /** Where it leads. */
  to: string;
  /** Why the last try was refused. */
  error?: string | undefined;
}

export function loginPage({ assets, to, error }: LoginPage): string {
  const refusal = error === undefined ? "" : `<p class="refusal" role="alert">${shown(error)}</p>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Log in · Unity Job Broker</title>
<link rel="icon" href="${assets}/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${assets}/style/base.css">
<link rel="stylesheet" href="${assets}/style/login.css">
</head>
<body class="login">
<main>
<img src="${assets}/icon.svg" alt="" width="40" height="40">
<h1>Unity Job Broker</h1>
<p class="hint">Editors and operations of this gateway.</p>
${refusal}
<form method="post" action="/operators/login">
<input type="hidden" name="to" value="${escaped(to)}">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" spellcheck="false" required autofocus${error === undefined ? "" : ' aria-invalid="true"'}>
<button type="submit">Log in</button>
</form>
<p class="hint">On the gateway's machine, <code>unity-broker token local</code> shows yours. A login ends after 12 hours, and with
its token.</p>
</main>
</body>
</html>
`;
}

/** What stands between backticks becomes code. */
function shown(text: string): string {
  return escaped(text).replace(/`([^`]*)`/g, "<code>$1</code>");
}

/** Text in an element or a quoted attribute. */
function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
