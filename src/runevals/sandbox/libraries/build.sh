#!/usr/bin/env bash
# Renews the bundles in this folder from the npm registry: `bash build.sh`, after a new version in package.json.
# Needs Node and npm; what it makes is committed, so that nobody else does.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$here/package.json" "$work/"
[ ! -f "$here/package-lock.json" ] || cp "$here/package-lock.json" "$work/"
cd "$work"
npm install --no-audit --no-fund --ignore-scripts --omit-lockfile-registry-resolved >/dev/null
cp package-lock.json "$here/"
plugins="advancedFormat customParseFormat dayOfYear duration isBetween isLeapYear isSameOrAfter isSameOrBefore
  isToday isoWeek localizedFormat minMax quarterOfYear relativeTime utc weekOfYear weekday"
for plugin in $plugins; do echo "exports.$plugin = require('dayjs/plugin/$plugin');"; done >dayjs-plugins.js
bundle() { # bundle NAME ENTRY
  npx --no-install esbuild "$2" --bundle --format=cjs --platform=neutral --main-fields=main --minify \
    --legal-comments=none --log-level=warning --outfile="$here/$1.js"
}
for library in lodash dayjs validator ajv; do bundle "$library" "$(node -p "require.resolve('$library')")"; done
bundle dayjs-plugins ./dayjs-plugins.js
for library in lodash dayjs validator ajv fast-deep-equal fast-uri json-schema-traverse require-from-string; do
  printf '== %s %s\n\n' "$library" "$(node -p "require('$library/package.json').version")"
  cat node_modules/"$library"/[Ll][Ii][Cc][Ee][Nn][SsCc][Ee]* 2>/dev/null || echo "(licence as in its package.json)"
  printf '\n\n'
done >"$here/LICENSES.txt"
