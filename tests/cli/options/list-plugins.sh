# --list-plugins, and the reason for each refused plugin.
recsort --list-plugins | sed -n 's/^cpu .*(linked in).*/cpu is linked in/p'
mkdir plugins
echo 'no library' >plugins/librecsort_broken.so
RECSORT_PLUGIN_PATH=$PWD/plugins recsort --list-plugins | grep -A1 '^broken' | grep -c 'refused: .'
