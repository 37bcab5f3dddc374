#!/bin/sh
# Usage: clean_root.sh COMMAND
# Makes a root that has nothing but Debian's base system, runs the shell command with its folder as last argument, and
# removes it. Who is not root becomes root of a user namespace, which cannot read the folders of others.
set -eu
. /etc/os-release
# The mirrors are those of this machine; without lists of apt, those that mmdebstrap knows.
sources=$(mktemp)
trap 'rm -f "$sources"' EXIT
apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
  sort -u > "$sources"
if [ -s "$sources" ]; then mirrors=-; else mirrors=; fi
# Unquoted: a word or none.
mmdebstrap --quiet --variant=apt --format=null --dpkgopt=force-unsafe-io --aptopt='Acquire::Languages "none"' \
  --customize-hook="$1 \"\$1\"" "$VERSION_CODENAME" /dev/null $mirrors < "$sources"
