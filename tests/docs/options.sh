#!/bin/sh
# Usage: options.sh RECSORT-PAGE TEMPLATE
# recsort_page makes a page of a template only if each option of the table has one heading there.
set -u
page=$1
template=$2
failures=0

refuses() { # MESSAGE SCRIPT-FOR-SED
  if sed "$2" "$template" | "$page" 2>&1 >/dev/null | grep -qxF "recsort_page: recsort.1: $1"; then
    return
  fi
  echo "not refused with '$1': the template after sed '$2'"
  failures=$((failures + 1))
}

refuses '--merge has no .OPTION' '/^\.OPTION merge/d'
refuses '--version has no .OPTION' '/^\.OPTION version/d'
refuses '-C has no .OPTION' 's/^\.OPTION check C/.OPTION check/'
refuses '.OPTION mergers: there is no such option' 's/^\.OPTION merge/.OPTION mergers/'
refuses '.OPTION c: there is no such option' 's/^\.OPTION check/.OPTION c/'
refuses '.OPTION head: it has a heading already' 's/^\.OPTION unique/.OPTION head/'

headings=$("$page" <"$template" | grep -E '^\\fB\\-')
for heading in '\fB\-k\fR, \fB\-\-key\fR \fIPATH\fR[\fB:asc\fR|\fB:desc\fR][\fB:nan=first\fR|\fBlast\fR|\fBtotal\fR][,\fIPATH\fR...]...' \
  '\fB\-c\fR, \fB\-\-check\fR[\fB=quiet\fR], \fB\-C\fR' '\fB\-h\fR, \fB\-\-help\fR' '\fB\-\-explain\fR'; do
  printf '%s\n' "$headings" | grep -qxF -- "$heading" && continue
  printf '%s\n' "not among the headings: $heading" "$headings"
  failures=$((failures + 1))
done
[ $failures = 0 ] && echo 'each option has its heading'
exit $failures
