#!/bin/sh
# Usage: package.sh VERSION STAGE OUTPUT PACKAGE...
# Makes a Debian package of each folder STAGE/PACKAGE, in OUTPUT; librecsort1 comes first, and librecsort-mpi1 before recsort-mpi. The same files
# make the same packages: times are that of the last commit, or SOURCE_DATE_EPOCH.
set -eu
umask 022
upstream=$1 version=$1-1 stage=$2 output=$3
shift 3
debian=$(cd "$(dirname "$0")" && pwd)
source=$debian/../..
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct 2> /dev/null || stat -c %Y "$source/CHANGELOG.md")}
export SOURCE_DATE_EPOCH LC_ALL=C

# Debian's tools want their files in a folder debian.
mkdir -p "$stage/debian"
cd "$stage"
cp "$debian/control" debian/control
author=$(sed -n 's/^Maintainer: //p' debian/control)
cat > debian/changelog <<END
recsort ($version) unstable; urgency=medium

  * The file changelog.gz has the changes.

 -- $author  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
END

for package in "$@"; do
  doc=$package/usr/share/doc/$package
  mkdir -p "$package/DEBIAN" "$doc"
  cp "$source/CHANGELOG.md" "$doc/changelog"
  cp debian/changelog "$doc/changelog.Debian"
  cp "$source/LICENSE" "$doc/copyright"
  if [ "$package" = recsort-cuda ]; then cat "$debian/copyright.cuda" >> "$doc/copyright"; fi
  overrides=$package/usr/share/lintian/overrides
  mkdir -p "$overrides"
  cat "$debian/lintian-overrides" > "$overrides/$package"
  [ ! -e "$debian/$package.lintian-overrides" ] || cat "$debian/$package.lintian-overrides" >> "$overrides/$package"
  gzip -9n "$doc/changelog" "$doc/changelog.Debian"
  find "$package/usr" -path '*/man/*' -type f -exec gzip -9n {} +
  find "$package" -type d -exec chmod 755 {} +
  find "$package" -type f ! -path '*/bin/*' ! -path '*/libexec/*' -exec chmod 644 {} +

  # Of the files that look like it, recbench is a script.
  programs=$(find "$package" -type f \( -path '*/bin/*' -o -path '*/libexec/*' -o -name '*.so.*' -o -name 'librecsort_*.so' \) \
    -exec sh -c 'for file; do [ "$(head -c 4 "$file" | tail -c 3)" != ELF ] || echo "$file"; done' sh {} +)
  # Unquoted: names without blanks.
  [ -z "$programs" ] || strip -s -R .comment $programs
  find "$package" -name '*.a' -exec strip -g -D -R .comment {} +

  : > debian/substvars
  case $package in
    librecsort1) libraries='librecsort librecsort_file' ;;
    librecsort-mpi1) libraries=librecsort_mpi ;;
    *) libraries= ;;
  esac
  if [ "$libraries" ]; then
    for library in $libraries; do
      echo "$library 1 $package (>= $upstream)"
    done > "$package/DEBIAN/shlibs"
    echo 'activate-noawait ldconfig' > "$package/DEBIAN/triggers"
  fi
  [ -z "$programs" ] || dpkg-shlibdeps -Slibrecsort1 -Slibrecsort-mpi1 -S"$package" -x"$package" -Tdebian/substvars $programs
  for script in postinst prerm; do
    [ ! -e "$debian/$package.$script" ] || install -m 755 "$debian/$package.$script" "$package/DEBIAN/$script"
  done
  dpkg-gencontrol -p"$package" -P"$package" -Tdebian/substvars
  (cd "$package" && find usr -type f | sort | xargs md5sum > DEBIAN/md5sums)
  # More compression makes recsort-cuda a tenth smaller and takes five times as long.
  dpkg-deb -z1 --root-owner-group --build "$package" "$output" > /dev/null
done
